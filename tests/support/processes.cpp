#include "support/processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/fail.hpp"
#include "base/liveness.hpp"

extern char** environ;

namespace baton::test {
namespace {

bool is_inherited(std::string_view entry) {
  // Kernels are compiled once for all.
  if (entry.starts_with("BATON_CACHE_DIR=") || entry.starts_with("BATON_INCLUDE_DIR=")) return true;
  for (const std::string_view prefix : {"BATON_", "OMPI_", "PMIX_", "PMI_", "MPI_", "SLURM_",
                                        "RANK=", "WORLD_SIZE=", "MASTER_PORT=", "TORCHELASTIC_"}) {
    if (entry.starts_with(prefix)) return false;
  }
  return true;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_with(const std::vector<std::string>& additions) {
  std::vector<std::string> entries = additions;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    const bool replaced = std::any_of(additions.begin(), additions.end(),
                                      [&](const std::string& addition) { return addition.starts_with(name); });
    if (!replaced && is_inherited(text)) entries.emplace_back(text);
  }
  return entries;
}

}  // namespace

Command this_program(std::vector<std::string> arguments, std::vector<std::string> environment) {
  arguments.insert(arguments.begin(), "/proc/self/exe");
  return {std::move(arguments), std::move(environment)};
}

std::size_t Processes::start(const Command& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_system("pipe2");
  const UniqueFd write_end(ends[1]);
  Process process;
  process.pipe = UniqueFd(ends[0]);
  static_cast<void>(::fcntl(ends[0], F_SETFL, O_NONBLOCK));

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), 2);
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = environment_with(command.environment);
  const int error = ::posix_spawnp(&process.pid, arguments.front().c_str(), &actions, nullptr,
                                   pointers_to(arguments).data(), pointers_to(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail_system("starting " + arguments.front(), error);
  process.pidfd = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!process.pidfd) fail_system("pidfd_open");
  all_.push_back(std::move(process));
  return all_.size() - 1;
}

Processes::~Processes() {
  for (Process& process : all_) {
    if (!process.ended) ::kill(process.pid, SIGKILL);
    if (!process.reaped) reap(process);
  }
}

void Processes::signal(std::size_t number, int signal) const { ::kill(all_.at(number).pid, signal); }

void Processes::read_output(Process& process) {
  char buffer[4096];
  ssize_t length = 0;
  while ((length = ::read(process.pipe.get(), buffer, sizeof buffer)) > 0) {
    process.output.append(buffer, static_cast<std::size_t>(length));
  }
  if (length == 0) process.pipe.reset();
}

void Processes::reap(Process& process) {
  while (::waitpid(process.pid, &process.status, 0) < 0 && errno == EINTR) {
  }
  process.reaped = true;
  process.ended = true;
}

void Processes::listen(Deadline deadline) {
  std::vector<pollfd> events;
  for (const Process& process : all_) {
    events.push_back({process.pipe.get(), POLLIN, 0});
    events.push_back({process.ended ? -1 : process.pidfd.get(), POLLIN, 0});
  }
  static_cast<void>(::poll(events.data(), events.size(), deadline.poll_timeout_ms()));
  for (std::size_t i = 0; i < all_.size(); ++i) {
    Process& process = all_[i];
    if (process.pipe) read_output(process);
    if (events[2 * i + 1].revents == 0) continue;
    process.ended = true;
    process.when_ended = std::chrono::steady_clock::now().time_since_epoch();
    if (process.pipe) read_output(process);
    // A grandchild may still hold the other end.
    process.pipe.reset();
    if (reaping_ == Reaping::at_once) reap(process);
  }
}

bool Processes::wait_for_output(std::size_t number, std::string_view text, Deadline deadline) {
  while (all_.at(number).output.find(text) == std::string::npos) {
    if (all_.at(number).ended || deadline.passed()) return false;
    listen(deadline);
  }
  return true;
}

bool Processes::wait_for_end(std::size_t number, Deadline deadline) {
  while (!all_.at(number).ended) {
    if (deadline.passed()) return false;
    listen(deadline);
  }
  return true;
}

bool Processes::finish(Deadline deadline) {
  bool in_time = true;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (wait_for_end(i, deadline)) continue;
    in_time = false;
    all_[i].output += "\n(killed by the test at its deadline)\n";
    ::kill(all_[i].pid, SIGCONT);
    ::kill(all_[i].pid, SIGKILL);
    static_cast<void>(wait_for_end(i, Deadline::after(std::chrono::seconds(10))));
  }
  for (Process& process : all_) {
    if (!process.reaped) reap(process);
  }
  return in_time;
}

std::string Processes::report() const {
  std::string text;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const Process& process = all_[i];
    text += fmt::format("--- process {} (pid {}): {}\n{}", i, process.pid,
                        process.reaped ? describe_wait_status(process.status) : "not reaped", process.output);
  }
  return text;
}

std::uint64_t sleeps_of_thread(std::string_view name) {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string found;
    std::getline(std::ifstream(thread.path() / "comm"), found);
    if (found != name) continue;
    std::ifstream status(thread.path() / "status");
    for (std::string word; status >> word;) {
      std::uint64_t count = 0;
      if (word == "voluntary_ctxt_switches:" && status >> count) return count;
    }
  }
  return 0;
}

}  // namespace baton::test
