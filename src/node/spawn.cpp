#include "node/spawn.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include <baton/options.hpp>

#include "base/environment.hpp"
#include "base/fail.hpp"
#include "base/recorder.hpp"
#include "base/spawn.hpp"
#include "job/program_of_baton.hpp"
#include "node/chips.hpp"
#include "node/start_message.hpp"

namespace baton::node {
namespace {

constexpr const char* kChipProgram = "baton-chip";

}  // namespace

ChipProcess spawn_chip(const ChipCommand& command) {
  ChipProcess process;
  process.pid = spawn(
      {.program = command.program,
       .arguments = {kChipProgram},
       .environment = command.environment,
       .descriptors = {SpawnCommand::kNothing, STDOUT_FILENO, STDERR_FILENO, command.segment_fd, command.socket_fd}});
  process.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!process.pidfd) {
    const int reason = errno;
    ::kill(process.pid, SIGKILL);
    ::waitpid(process.pid, nullptr, 0);
    fail_system("pidfd_open of a chip", reason);
  }
  return process;
}

std::vector<std::string> chip_environment(int chip, int size, const std::string& job) {
  constexpr std::array<std::string_view, 5> kReplaced = {
      "BATON_RANK=", "BATON_SIZE=", "BATON_JOB=", "BATON_LAUNCHER=", "BATON_CHIP="};
  std::vector<std::string> environment = environment_of_this_process();
  std::erase_if(environment, [&](const std::string& entry) {
    return std::ranges::any_of(kReplaced, [&](std::string_view name) { return entry.starts_with(name); });
  });
  environment.push_back(fmt::format("BATON_RANK={}", chip));
  environment.push_back(fmt::format("BATON_SIZE={}", size));
  environment.push_back("BATON_JOB=" + job);
  environment.push_back(fmt::format("{}={}", kChipVariable, chip));
  if (const auto trace = events::trace_path()) {
    std::erase_if(environment, [](const std::string& entry) { return entry.starts_with("BATON_TRACE="); });
    environment.push_back("BATON_TRACE=" + *trace);
    if (events::wants(EventKind::touch)) environment.emplace_back("BATON_CHECK=on");
  }
  return environment;
}

std::string find_chip_program(const std::string& asked) {
  if (!asked.empty()) return asked;
  if (program_can_be_chip()) return "/proc/self/exe";
  return job::find_program_of_baton(kChipProgram);
}

}  // namespace baton::node
