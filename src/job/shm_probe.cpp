#include "job/shm_probe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "base/futex.hpp"
#include "base/liveness.hpp"
#include "base/process_memory.hpp"
#include "comm/backends/shm/mail_socket.hpp"
#include "comm/memfd.hpp"
#include "job/launch/random_name.hpp"

namespace baton::job {
namespace {

constexpr std::size_t kBytes = 4096;
constexpr std::chrono::seconds kPatience{5};
constexpr int kChildExitCode = 7;

/// A child that runs `body` and exits with what it returns.
template <class Body>
pid_t fork_child(Body&& body) {
  const pid_t pid = ::fork();
  if (pid < 0) fail_system("fork");
  if (pid == 0) ::_exit(body());
  return pid;
}

/// A child that lives until it is let go, and then exits with kChildExitCode.
class WaitingChild {
 public:
  WaitingChild() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail_system("pipe2");
    const UniqueFd read_end(ends[0]);
    write_end_ = UniqueFd(ends[1]);
    pid_ = fork_child([&] {
      ::close(write_end_.get());
      char byte = 0;
      return ::read(read_end.get(), &byte, 1) == 0 ? kChildExitCode : 1;
    });
  }
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;
  ~WaitingChild() { reap(); }

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void let_go() noexcept { write_end_.reset(); }
  void reap() noexcept {
    let_go();
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  UniqueFd write_end_;
  pid_t pid_ = -1;
};

}  // namespace

void probe_memory() {
  const UniqueFd fd = comm::create_memfd("baton-doctor", kBytes);
  const auto memory = comm::map_memfd(fd, kBytes);
  std::memset(memory->address(), 1, kBytes);
  if (::ftruncate(fd.get(), 0) == 0) fail(Code::system, "a sealed memfd could be cut short");
}

void probe_mail() {
  const std::string name = "baton-doctor-" + random_name();
  shm::MailSocket sender(name + "-from");
  shm::MailSocket receiver(name + "-to");
  const UniqueFd fd = comm::create_memfd("baton-doctor", kBytes);
  const wire::Mail mail{.magic = wire::kMailMagic,
                        .version = wire::kMailVersion,
                        .kind = wire::MailKind::segment,
                        .sender = 0,
                        .key = {},
                        .bytes = kBytes};
  sender.send(name + "-to", mail, fd.get(), Deadline::after(kPatience));
  const auto letter = receiver.receive();
  if (!letter || !letter->descriptor) fail(Code::system, "a descriptor sent over a Unix socket did not arrive");
  (void)comm::map_memfd(letter->descriptor, kBytes);
}

void probe_futex() {
  const auto memory = comm::map_memfd(comm::create_memfd("baton-doctor", kBytes), kBytes);
  auto& word = *new (memory->address()) std::atomic<std::uint32_t>(0);
  const pid_t pid = fork_child([&] {
    const Deadline deadline = Deadline::after(kPatience);
    // Pairs with the parent's store.
    while (word.load(std::memory_order_acquire) == 0 && !deadline.passed()) {
      futex_wait(word, 0, deadline, FutexScope::shared);
    }
    return deadline.passed() ? 1 : 0;
  });
  word.store(1, std::memory_order_release);  // pairs with the child's load
  futex_wake_all(word, FutexScope::shared);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (status != 0) fail(Code::system, "a process that slept on a futex in shared memory was not woken");
}

bool probe_reading() {
  const WaitingChild child;
  std::byte sample{};
  const pid_t reader = fork_child([&] {
    const auto pid = static_cast<std::uint32_t>(child.pid());
    const bool reaches = read_process_memory(pid, &sample, &sample, sizeof sample) == 0 &&
                         write_process_memory(pid, &sample, &sample, sizeof sample) == 0;
    return reaches ? 0 : 1;
  });
  int status = 0;
  ::waitpid(reader, &status, 0);
  return status == 0;
}

DeathNews probe_death() {
  WaitingChild child;
  const auto number = static_cast<std::uint32_t>(child.pid());
  const DeathWatch watch({.pid = number, .start_time = process_start_time(number).value_or(0)});
  const bool early = watch.ended();
  child.let_go();
  pollfd ended{.fd = watch.fd(), .events = POLLIN, .revents = 0};
  const bool told = watch.fd() >= 0 && ::poll(&ended, 1, Deadline::after(kPatience).poll_timeout_ms()) == 1;
  child.reap();
  if (early || !told) return DeathNews::none;
  const auto status = exit_status_of(watch);
  const bool known = status && WIFEXITED(*status) && WEXITSTATUS(*status) == kChildExitCode;
  return known ? DeathNews::how_it_was : DeathNews::that_it_is;
}

}  // namespace baton::job
