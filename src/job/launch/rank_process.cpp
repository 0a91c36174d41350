#include "job/launch/rank_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/fail.hpp"
#include "base/spawn.hpp"
#include "job/launch/keeper.hpp"
#include "job/launch/pipe_ends.hpp"

namespace baton::job {
namespace {

constexpr int kCouldNotStart = 127;

/// All that the child needs, made before the fork.
struct Plan {
  const RankRecipe& recipe;
  int rank;
  pid_t launcher;
  int input, output, error, start;
  std::optional<ProcessorMask> processors;
  char* const* arguments;
  char* const* shell_arguments;
  char* const* environment;
};

/// Between fork and exec: system calls only.
[[noreturn]] void become_program(const Plan& plan) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The launcher may have died before the line above.
  if (::getppid() != plan.launcher) ::_exit(kCouldNotStart);
  ::setpgid(0, 0);
  Keeper::remember(plan.recipe.keeper_fd, ::getpid());
  int error_number = 0;
  const std::pair<int, int> descriptors[] = {
      {plan.input, STDIN_FILENO}, {plan.output, STDOUT_FILENO}, {plan.error, STDERR_FILENO}};
  for (const auto& [from, to] : descriptors) {
    if (from != to && ::dup2(from, to) < 0) error_number = errno;
  }
  if (error_number == 0) {
    ::setrlimit(RLIMIT_NOFILE, &plan.recipe.open_files);
    // Refused only if somebody takes processors away at this very moment; the kernel then chooses others.
    if (plan.processors) stay_on(*plan.processors);
    plan.recipe.signals.restore();
    ::execve(plan.recipe.program.c_str(), plan.arguments, plan.environment);
    // As execvp(): a text without #! is for the shell.
    if (errno == ENOEXEC) ::execve("/bin/sh", plan.shell_arguments, plan.environment);
    error_number = errno;
  }
  const StartFailure failure{plan.rank, error_number};
  while (::write(plan.start, &failure, sizeof failure) < 0 && errno == EINTR) {
  }
  ::_exit(kCouldNotStart);
}

}  // namespace

StartPipe::StartPipe() {
  PipeEnds ends = make_pipe();
  read_ = std::move(ends.read);
  write_ = std::move(ends.write);
  ::fcntl(read_.get(), F_SETFL, O_NONBLOCK);
}

std::optional<StartFailure> StartPipe::next() {
  StartFailure failure{};
  if (::read(read_.get(), &failure, sizeof failure) != static_cast<ssize_t>(sizeof failure)) return std::nullopt;
  return failure;
}

RankProcess start_rank(const RankRecipe& recipe, int rank, int input_fd, const StartPipe& start) {
  auto [output, child_output] = make_pipe();
  auto [error, child_error] = make_pipe();
  std::vector<std::string> environment = recipe.environment;
  environment.push_back(fmt::format("BATON_RANK={}", rank));
  std::vector<std::string> shell_arguments = recipe.arguments;
  shell_arguments.front() = recipe.program;
  shell_arguments.insert(shell_arguments.begin(), "/bin/sh");
  const auto argument_pointers = exec_pointers(recipe.arguments);
  const auto shell_pointers = exec_pointers(shell_arguments);
  const auto environment_pointers = exec_pointers(environment);
  const Plan plan{.recipe = recipe,
                  .rank = rank,
                  .launcher = ::getpid(),
                  .input = input_fd,
                  .output = child_output.get(),
                  .error = child_error.get(),
                  .start = start.write_fd(),
                  .processors = recipe.processors
                                    ? std::optional(recipe.processors->share(rank - recipe.first_rank, recipe.ranks))
                                    : std::nullopt,
                  .arguments = argument_pointers.data(),
                  .shell_arguments = shell_pointers.data(),
                  .environment = environment_pointers.data()};
  const pid_t pid = ::fork();
  if (pid < 0) fail_system("fork");
  if (pid == 0) become_program(plan);
  // Also here: the group exists when this returns, no matter which process runs first.
  ::setpgid(pid, pid);
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd) {
    const int error_number = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    fail_system("pidfd_open", error_number);
  }
  return {.pid = pid, .pidfd = std::move(pidfd), .output = std::move(output), .error = std::move(error)};
}

}  // namespace baton::job
