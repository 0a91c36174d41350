#include "node/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <baton/options.hpp>

#include "base/environment.hpp"
#include "base/fail.hpp"
#include "base/quote.hpp"
#include "node/chips.hpp"
#include "node/code_address.hpp"
#include "node/start_message.hpp"

namespace baton::node {
namespace {

constexpr const char* kChipProgram = "baton-chip";

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

/// A copy above the numbers that the chip's descriptors get, so that putting one in place cannot overwrite the other.
UniqueFd copy_above(int fd) {
  UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, kSocketFd + 1));
  if (!copy) fail_system("copying a descriptor");
  return copy;
}

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  [[nodiscard]] posix_spawn_file_actions_t* get() noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

class Attributes {
 public:
  Attributes() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    sigset_t handled;
    ::sigemptyset(&handled);
    for (const int number : {SIGTERM, SIGPIPE, SIGCHLD, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) ::sigaddset(&handled, number);
    ::posix_spawnattr_setsigdefault(&attributes_, &handled);
  }
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  [[nodiscard]] const posix_spawnattr_t* get() const noexcept { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

}  // namespace

ChipProcess spawn_chip(const ChipCommand& command) {
  const UniqueFd segment = copy_above(command.segment_fd);
  const UniqueFd socket = copy_above(command.socket_fd);
  FileActions actions;
  ::posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(actions.get(), segment.get(), kSegmentFd);
  ::posix_spawn_file_actions_adddup2(actions.get(), socket.get(), kSocketFd);
  ::posix_spawn_file_actions_addclosefrom_np(actions.get(), kSocketFd + 1);
  const Attributes attributes;
  const std::vector<std::string> arguments = {kChipProgram};
  const auto argument_pointers = pointers(arguments);
  const auto environment_pointers = pointers(command.environment);
  ChipProcess process;
  const int error = ::posix_spawn(&process.pid, command.program.c_str(), actions.get(), attributes.get(),
                                  argument_pointers.data(), environment_pointers.data());
  if (error != 0) {
    throw Error(Code::launch_failed, fmt::format("{} cannot be started as a chip", quote(command.program)),
                {fmt::format("posix_spawn: {}", std::generic_category().message(error))});
  }
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
  return environment;
}

std::string find_chip_program(const std::string& asked) {
  if (!asked.empty()) return asked;
  if (program_can_be_chip()) return "/proc/self/exe";
  const std::filesystem::path here = std::filesystem::path(file_of(reinterpret_cast<const void*>(&find_chip_program)));
  const std::filesystem::path folder = here.parent_path();
  const std::array<std::filesystem::path, 3> places = {folder / kChipProgram,
                                                       folder.parent_path() / "bin" / kChipProgram,
                                                       folder.parent_path() / "libexec" / "baton" / kChipProgram};
  std::vector<std::string> notes;
  for (const auto& place : places) {
    if (::access(place.c_str(), X_OK) == 0) return place.string();
    notes.push_back("not there: " + place.string());
  }
  throw Error(Code::launch_failed, fmt::format("the program of chips, {}, was not found", kChipProgram),
              std::move(notes));
}

}  // namespace baton::node
