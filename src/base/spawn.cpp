#include "base/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

#include <cerrno>
#include <cstring>

#include "base/fail.hpp"
#include "base/quote.hpp"
#include "base/unique_fd.hpp"

namespace baton {
namespace {

class FileActions {
 public:
  /// The descriptors are copied above the numbers they get, so that putting one in place cannot overwrite another.
  explicit FileActions(const std::vector<int>& descriptors) {
    ::posix_spawn_file_actions_init(&actions_);
    const int count = static_cast<int>(descriptors.size());
    for (int to = 0; to < count; ++to) {
      const int from = descriptors[static_cast<std::size_t>(to)];
      UniqueFd copy(from == SpawnCommand::kNothing ? -1 : ::fcntl(from, F_DUPFD_CLOEXEC, count));
      if (copy) {
        ::posix_spawn_file_actions_adddup2(&actions_, copy.get(), to);
        copies_.push_back(std::move(copy));
      } else if (from == SpawnCommand::kNothing || errno == EBADF) {
        ::posix_spawn_file_actions_addopen(&actions_, to, "/dev/null", O_RDWR, 0);
      } else {
        const int reason = errno;
        ::posix_spawn_file_actions_destroy(&actions_);
        fail_system("copying a descriptor", reason);
      }
    }
    // Not only those marked close-on-exec: what other code of this process forgot to mark is not the program's.
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, count);
  }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
  std::vector<UniqueFd> copies_;
};

class Attributes {
 public:
  Attributes() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t set;
    ::sigemptyset(&set);
    ::posix_spawnattr_setsigmask(&attributes_, &set);
    ::sigfillset(&set);
    ::posix_spawnattr_setsigdefault(&attributes_, &set);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

}  // namespace

std::vector<char*> exec_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

pid_t spawn(const SpawnCommand& command) {
  const auto arguments = exec_pointers(command.arguments);
  const auto environment = exec_pointers(command.environment);
  const FileActions actions(command.descriptors);
  const Attributes attributes;
  pid_t pid = 0;
  const int error_number = ::posix_spawn(&pid, command.program.c_str(), actions.get(), attributes.get(),
                                         arguments.data(), environment.data());
  if (error_number != 0) {
    fail(Code::launch_failed, "cannot start {}: {}", printable(command.program), ::strerrordesc_np(error_number));
  }
  return pid;
}

}  // namespace baton
