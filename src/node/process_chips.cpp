// Chips in processes of their own.
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "base/liveness.hpp"
#include "base/process_stat.hpp"
#include "base/service_thread.hpp"
#include "comm/backends/shm/mail_socket.hpp"
#include "comm/control_setup.hpp"
#include "comm/health.hpp"
#include "job/launch/random_name.hpp"
#include "node/chip_mailbox.hpp"
#include "node/chips.hpp"
#include "node/give_buffer.hpp"
#include "node/spawn.hpp"
#include "node/start_message.hpp"

namespace baton::node {
namespace {

class ProcessChips final : public Chips {
 public:
  ProcessChips(const WorkerOptions& options, DeathListener on_death)
      : count_(options.devices.size()),
        on_death_(std::move(on_death)),
        segment_(comm::create_memfd(wire::kNodeSegmentName, wire::node_segment_bytes(count_, mailbox_sizes()))),
        memory_(comm::map_memfd(segment_, wire::node_segment_bytes(count_, mailbox_sizes()))),
        launcher_("baton-node-" + job::random_name()),
        mail_(launcher_),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!wake_) fail_system("eventfd");
    write_node_header(memory_->address(), static_cast<std::uint32_t>(count_));
    chips_.resize(count_);
    try {
      spawn_all(options);
      await_start();
      watcher_ = start_thread([this] { watch(); });
    } catch (...) {
      kill_and_reap();
      throw;
    }
  }

  ~ProcessChips() override { end(Deadline::after(std::chrono::nanoseconds(0))); }

  [[nodiscard]] wire::NodeHeader& header() noexcept override {
    return *static_cast<wire::NodeHeader*>(memory_->address());
  }
  void ring(std::size_t chip) noexcept override { wire::doorbell_of(control(), chip).ring(scope()); }
  void end_waits() noexcept override {
    for (std::uint32_t chip = 0; chip < count_; ++chip) {
      comm::mark_dead(control(), chip, wire::EndKind::error, 0, scope());
    }
  }
  [[nodiscard]] FutexScope scope() const noexcept override { return FutexScope::shared; }
  [[nodiscard]] pid_t pid(std::size_t chip) const noexcept override { return chips_[chip].process.pid; }

  void give(std::size_t chip, const SharedBuffer& buffer) override { give_buffer(chips_[chip].socket, buffer); }

  void end(const Deadline& deadline) noexcept override {
    await_end(deadline);
    if (!watcher_.joinable()) return;
    const std::uint64_t one = 1;
    static_cast<void>(!::write(wake_.get(), &one, sizeof one));
    watcher_.join();
  }

  void kill(std::size_t chip) noexcept override {
    const std::lock_guard lock(mutex_);
    if (!chips_[chip].ended) ::kill(chips_[chip].process.pid, SIGKILL);
  }

 private:
  struct Chip {
    ChipProcess process;
    UniqueFd socket;
    bool ended = false;
    bool started = false;
  };

  [[nodiscard]] wire::ControlHeader& control() noexcept { return control_.header(); }

  void await_end(const Deadline& deadline) noexcept {
    std::unique_lock lock(mutex_);
    closing_ = true;
    const auto all_ended = [this] { return ended_ == count_; };
    if (changed_.wait_until(lock, deadline.when(), all_ended)) return;
    for (const Chip& chip : chips_) {
      if (!chip.ended) ::kill(chip.process.pid, SIGKILL);
    }
    // What got SIGKILL ends unless the kernel itself is stuck with it.
    changed_.wait_for(lock, std::chrono::seconds(10), all_ended);
  }

  void spawn_all(const WorkerOptions& options) {
    const std::string program = find_chip_program(options.chip_program);
    StartMessage start{.size = static_cast<int>(count_),
                       .job = "node-" + job::random_name(),
                       .launcher = launcher_,
                       .node = this_process(),
                       .chip = {}};
    MessageWriter message;
    for (std::size_t i = 0; i < count_; ++i) {
      start.chip = chip_options(options, i);
      put_start(message, start);
      const auto record = message.finish();
      if (StreamWriter(views_of(header(), i).control).write(record).bytes != record.size()) {
        fail(Code::internal, "the first message to a chip, {} bytes, does not fit its mailbox", record.size());
      }
      int ends[2];
      if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) fail_system("socketpair");
      chips_[i].socket.reset(ends[0]);
      const UniqueFd theirs(ends[1]);
      // Its chip takes what comes at once, unless it is stopped.
      limit_giving(chips_[i].socket);
      chips_[i].process =
          spawn_chip({.program = program,
                      .environment = chip_environment(static_cast<int>(i), static_cast<int>(count_), start.job),
                      .segment_fd = segment_.get(),
                      .socket_fd = theirs.get()});
    }
  }

  /// Until every chip is ready and their control segment has come.
  void await_start() {
    const std::chrono::nanoseconds timeout = baton::options().join_timeout;
    const Deadline deadline = Deadline::after(timeout);
    std::size_t ready = 0;
    while (ready < count_ || !control_.memory) {
      std::vector<pollfd> entries = {{mail_.fd(), POLLIN, 0}};
      for (const Chip& chip : chips_) {
        entries.push_back({chip.started ? -1 : chip.socket.get(), POLLIN, 0});
        entries.push_back({chip.process.pidfd.get(), POLLIN, 0});
      }
      const int count = ::poll(entries.data(), entries.size(), deadline.poll_timeout_ms());
      if (count < 0 && errno != EINTR) fail_system("poll");
      if (count == 0 && deadline.passed()) fail_late(timeout);
      if (count <= 0) continue;
      if (entries[0].revents != 0) receive_control();
      for (std::size_t i = 0; i < count_; ++i) {
        if (entries[1 + 2 * i].revents != 0) ready += take_news(i) ? 1U : 0U;
        if (entries[2 + 2 * i].revents != 0) fail_start(i);
      }
    }
  }

  void receive_control() {
    while (auto letter = mail_.receive()) {
      if (letter->mail.kind != wire::MailKind::control || !letter->descriptor) continue;
      const bool ours = std::any_of(chips_.begin(), chips_.end(), [&](const Chip& chip) {
        return chip.process.pid == static_cast<pid_t>(letter->sender_pid);
      });
      if (ours) control_ = comm::adopt_control(std::move(letter->descriptor), static_cast<std::uint32_t>(count_));
    }
  }

  bool take_news(std::size_t chip) {
    StartNews news{};
    const ssize_t length = ::recv(chips_[chip].socket.get(), &news, sizeof news, MSG_DONTWAIT);
    if (length != static_cast<ssize_t>(sizeof news)) return false;
    if (news == StartNews::failed) fail_start(chip);
    chips_[chip].started = true;
    return true;
  }

  [[noreturn]] void fail_start(std::size_t chip) {
    const auto reports_view = views_of(header(), chip).reports;
    StreamReader reports(reports_view);
    if (const auto record = reports.next()) {
      MessageReader message(*record);
      static_cast<void>(message.get<std::uint64_t>());
      Failure failure = get_failure(message);
      failure.notes.push_back(fmt::format("chip {} (pid {}) said so when it was started", chip, pid(chip)));
      throw Error(failure.code, failure.message, failure.notes, failure.remedy);
    }
    throw Error(Code::launch_failed,
                fmt::format("chip {} (pid {}) ended while it was started: {}", chip, pid(chip), how_it_ended(chip)),
                {"its own output, above, may say why"});
  }

  [[noreturn]] void fail_late(std::chrono::nanoseconds timeout) {
    std::vector<std::size_t> late;
    for (std::size_t i = 0; i < count_; ++i) {
      if (!chips_[i].started) late.push_back(i);
    }
    fail(Code::join_timeout, "{} of {} chips were not ready after {} ms; the first of them is chip {} (pid {})",
         late.size(), count_, timeout.count() / 1'000'000, late.empty() ? 0 : late.front(),
         late.empty() ? 0 : pid(late.front()));
  }

  /// Reaps it.
  std::string how_it_ended(std::size_t chip) {
    int status = 0;
    pid_t reaped = 0;
    do {
      reaped = ::waitpid(pid(chip), &status, 0);
    } while (reaped < 0 && errno == EINTR);
    chips_[chip].ended = true;
    if (reaped != pid(chip)) return "cause unknown";
    mark(chip, status);
    return describe_wait_status(status);
  }

  /// Tells the other chips at once.
  void mark(std::size_t chip, int status) {
    if (!control_.memory) return;
    const auto kind = WIFSIGNALED(status) ? wire::EndKind::signal : wire::EndKind::exit_code;
    const int value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    comm::mark_dead(control(), static_cast<std::uint32_t>(chip), kind, static_cast<std::uint32_t>(value));
  }

  void kill_and_reap() noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      if (chips_[i].process.pid <= 0 || chips_[i].ended) continue;
      ::kill(chips_[i].process.pid, SIGKILL);
      while (::waitpid(chips_[i].process.pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }

  /// Learns of the end of chips, until all have ended.
  void watch() {
    while (true) {
      std::vector<pollfd> entries = {{wake_.get(), POLLIN, 0}};
      for (const Chip& chip : chips_) entries.push_back({chip.ended ? -1 : chip.process.pidfd.get(), POLLIN, 0});
      if (::poll(entries.data(), entries.size(), -1) < 0) continue;
      for (std::size_t i = 0; i < count_; ++i) {
        if (entries[1 + i].revents != 0) note_end(i);
      }
      if (entries[0].revents != 0) return;
    }
  }

  void note_end(std::size_t chip) {
    std::string how;
    bool expected = false;
    {
      const std::lock_guard lock(mutex_);
      how = how_it_ended(chip);
      ++ended_;
      expected = closing_;
      changed_.notify_all();
    }
    if (!expected) on_death_(chip, how);
  }

  std::size_t count_;
  DeathListener on_death_;
  UniqueFd segment_;
  std::shared_ptr<comm::SharedMemory> memory_;
  std::string launcher_;
  shm::MailSocket mail_;
  UniqueFd wake_;
  comm::ControlSegment control_;
  std::vector<Chip> chips_;  // `ended` is guarded by mutex_ once the watcher runs
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t ended_ = 0;  // guarded by mutex_
  bool closing_ = false;   // guarded by mutex_
  std::thread watcher_;
};

}  // namespace

std::string Chips::process(std::size_t chip) const { return fmt::format("pid {}", pid(chip)); }

bool Chips::is_stopped(std::size_t chip) noexcept {
  // One that a debugger holds is not.
  const auto found = read_process_stat(static_cast<std::uint32_t>(pid(chip)));
  return found && found->state == 'T';
}

std::unique_ptr<Chips> start_process_chips(const WorkerOptions& options, DeathListener on_death) {
  return std::make_unique<ProcessChips>(options, std::move(on_death));
}

ChipOptions chip_options(const WorkerOptions& options, std::size_t chip) {
  // Devices that nobody uses are left alone, whether they are whole or parts of others.
  int device = options.devices[chip];
  int device_count = *std::max_element(options.devices.begin(), options.devices.end()) + 1;
  for (const job::HostShare& host : shares_of(options)) {
    const int place = static_cast<int>(chip) - host.first_rank;
    if (place < 0 || place >= host.count) continue;
    device = place;  // each host counts its own
    device_count = host.count;
  }
  return {.platform = options.platform,
          .device = device,
          .device_count = device_count,
          .clusters = options.clusters,
          .threads = options.chip_threads,
          .task_window = options.chip_task_window,
          .output_heap_bytes = options.output_heap_bytes,
          .kernel_timeout = options.kernel_timeout};
}

wire::MailboxSizes mailbox_sizes() noexcept {
  constexpr std::uint64_t kKiB = 1024;
  return {
      .tasks = 256 * kKiB, .reports = 64 * kKiB, .control = 64 * kKiB, .replies = 64 * kKiB, .staging = 2048 * kKiB};
}

void write_node_header(void* memory, std::uint32_t chips) noexcept {
  auto& header = *static_cast<wire::NodeHeader*>(memory);
  header.version = wire::kNodeVersion;
  header.chip_count = chips;
  header.sizes = mailbox_sizes();
  header.bytes = wire::node_segment_bytes(chips, header.sizes);
  header.magic = wire::kNodeMagic;
}

}  // namespace baton::node
