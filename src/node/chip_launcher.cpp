#include "node/chip_launcher.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/environment.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/service_thread.hpp"
#include "base/spawn.hpp"
#include "job/program_of_baton.hpp"

namespace baton::node {
namespace {

/// The launcher itself waits 10 s for what was killed, and 5 s for agents.
constexpr std::chrono::seconds kEndPatience{20};
/// What is left of a trace comes last. The launcher itself gives up if no more of it comes.
constexpr std::chrono::minutes kTracePatience{10};

}  // namespace

ChipLauncher::ChipLauncher(const job::NodeOrder& order, Listeners listeners)
    : listeners_(std::move(listeners)),
      chips_(static_cast<std::size_t>(order.hosts.back().first_rank) +
             static_cast<std::size_t>(order.hosts.back().count)),
      ended_(chips_ + 1),
      end_patience_(order.trace.empty() ? std::chrono::seconds(kEndPatience) : kTracePatience) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail_system("socketpair");
  socket_.reset(ends[0]);
  const UniqueFd theirs(ends[1]);
  pid_ = spawn({.program = job::find_program_of_baton("baton"),
                .arguments = {"baton", "node"},
                .environment = environment_of_this_process(),
                .descriptors = {SpawnCommand::kNothing, STDOUT_FILENO, STDERR_FILENO, theirs.get()}});
  pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  static_cast<void>(send(encode(order)));
  thread_ = start_service_thread("baton-launcher", [this] { listen(); });
}

ChipLauncher::~ChipLauncher() { end(); }

bool ChipLauncher::send(const std::string& frame) noexcept {
  const std::lock_guard lock(sending_);
  std::string_view rest = frame;
  while (!rest.empty()) {
    const ssize_t count = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void ChipLauncher::listen() {
  job::FrameAssembler frames;
  std::array<char, std::size_t{16} * 1024> bytes;
  try {
    while (true) {
      const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      frames.add({bytes.data(), static_cast<std::size_t>(count)});
      while (auto frame = frames.next()) take(*frame);
    }
  } catch (const Error& error) {
    log::warn("the launcher of the node's chips sends what makes no sense: {}", error.message());
  }
  {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    changed_.notify_all();
  }
  // Their agents end them when the launcher is gone.
  for (std::size_t chip = 0; chip < ended_.size(); ++chip) {
    if (!ended_[chip]) listeners_.on_end({static_cast<std::int32_t>(chip), "the launcher of its host ended"});
  }
}

void ChipLauncher::take(job::FrameReader& frame) {
  switch (frame.kind()) {
    case job::FrameKind::meeting: {
      const std::lock_guard lock(mutex_);
      meeting_ = job::decode_meeting(frame);
      changed_.notify_all();
      break;
    }
    case job::FrameKind::stopped: {
      const std::lock_guard lock(mutex_);
      sight_ = job::decode_process_sight(frame);
      changed_.notify_all();
      break;
    }
    case job::FrameKind::not_started: {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = job::decode_not_started(frame);
      changed_.notify_all();
      break;
    }
    case job::FrameKind::started: listeners_.on_start(job::decode_chip_start(frame)); break;
    case job::FrameKind::ended: {
      const job::ChipEnd end = job::decode_chip_end(frame);
      if (end.chip < 0 || static_cast<std::size_t>(end.chip) >= ended_.size()) break;
      if (ended_[static_cast<std::size_t>(end.chip)]) break;
      ended_[static_cast<std::size_t>(end.chip)] = true;
      listeners_.on_end(end);
      break;
    }
    default: fail(Code::protocol, "a frame of kind {} came", static_cast<std::uint32_t>(frame.kind()));
  }
}

job::Meeting ChipLauncher::await_meeting(const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline.when(), [this] { return meeting_ || failure_ || gone_; });
  if (failure_) throw Error(*failure_);
  if (meeting_) return *meeting_;
  fail(Code::launch_failed, "the launcher of the node's chips, process {}, {}", pid_,
       gone_ ? "ended before they had been started" : "does not answer");
}

std::optional<Error> ChipLauncher::failure(const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline.when(), [this] { return failure_ || gone_; });
  return failure_;
}

bool ChipLauncher::is_stopped(int chip, const Deadline& deadline) noexcept {
  try {
    std::unique_lock lock(mutex_);
    sight_.reset();
    if (!send(job::FrameWriter(job::FrameKind::stopped).put(std::int32_t{chip}).finish())) return false;
    const auto told = [&] { return gone_ || (sight_ && sight_->rank == chip); };
    return changed_.wait_until(lock, deadline.when(), told) && sight_ && sight_->is_stopped;
  } catch (const std::exception&) {
    return false;  // no memory for the question
  }
}

void ChipLauncher::signal(int chip, int number) noexcept {
  try {
    static_cast<void>(
        send(job::FrameWriter(job::FrameKind::signal_rank).put(std::int32_t{chip}).put(std::int32_t{number}).finish()));
  } catch (const std::exception& error) {
    log::warn("ending chip {}: {}", chip, error.what());
  }
}

void ChipLauncher::end() noexcept {
  if (pid_ < 0) return;
  // Its reader sees the end of the connection, which is as good as a word.
  ::shutdown(socket_.get(), SHUT_WR);
  pollfd ended{pidfd_.get(), POLLIN, 0};
  const Deadline deadline = Deadline::after(end_patience_);
  while (pidfd_ && ::poll(&ended, 1, deadline.poll_timeout_ms()) < 0 && errno == EINTR) {
  }
  if (ended.revents == 0) ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (thread_.joinable()) thread_.join();
}

}  // namespace baton::node
