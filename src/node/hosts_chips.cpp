// Chips on hosts. The node is a rank of their job, the last one. Those of its own host share memory with it, others are
// reached by messages.
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include <baton/options.hpp>

#include "base/environment.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/recorder.hpp"
#include "comm/delivery.hpp"
#include "comm/path.hpp"
#include "comm/world.hpp"
#include "job/agent_rendezvous.hpp"
#include "job/connect.hpp"
#include "node/buffer_table.hpp"
#include "node/chip_launcher.hpp"
#include "node/chip_mailbox.hpp"
#include "node/chips.hpp"
#include "node/courier.hpp"
#include "node/far_memory.hpp"
#include "node/library_shelf.hpp"
#include "node/near_chips.hpp"
#include "node/near_message.hpp"
#include "node/spawn.hpp"
#include "node/start_message.hpp"

namespace baton::node {
namespace {

/// Beyond what the launcher itself gives the hosts.
constexpr std::chrono::seconds kLauncherPatience{5};
/// How long the launcher has to tell why the chips did not come.
constexpr std::chrono::seconds kReasonPatience{2};

/// How long a host has to tell whether a chip is stopped. The node waits for it.
constexpr std::chrono::milliseconds kSightPatience{500};

std::vector<std::string> environment_of_chips(const std::string& node) {
  std::vector<std::string> environment = environment_of_this_process();
  // They start no chips themselves; and where a trace goes is told by their agent.
  constexpr std::array kLeftOut = {"BATON_HOSTS=", "BATON_TRACE=", "BATON_CHECK=", "BATON_CHIP=", "BATON_NODE_AT="};
  std::erase_if(environment, [&](const std::string& entry) {
    return std::any_of(kLeftOut.begin(), kLeftOut.end(), [&](const char* name) { return entry.starts_with(name); });
  });
  environment.push_back(fmt::format("{}={}", kChipVariable, kChipOfAgent));
  environment.push_back(fmt::format("{}={}", kNodeVariable, node));
  return environment;
}

std::string given_or(const std::string& given, const std::optional<std::string>& set) {
  return given.empty() ? set.value_or("") : given;
}

/// `node`: where chips of this host find it.
job::NodeOrder order_of(const WorkerOptions& options, std::vector<job::HostShare> hosts, const std::string& node) {
  std::string program = find_chip_program(options.chip_program);
  std::error_code error;
  // Only this process has that name for it.
  if (program == "/proc/self/exe") program = std::filesystem::read_symlink(program, error).string();
  return {.program = std::filesystem::absolute(program).string(),
          .folder = std::filesystem::current_path().string(),
          .environment = environment_of_chips(node),
          .hosts = std::move(hosts),
          .launch_agent = given_or(options.launch_agent, baton::options().launch_agent),
          .remote_baton = given_or(options.remote_baton, baton::options().remote_baton),
          .interface = given_or(options.interface, baton::options().interface),
          .patience_ns = static_cast<std::uint64_t>(baton::options().join_timeout.count()),
          .trace = events::trace_path().value_or("")};
}

class HostsChips final : public Chips {
 public:
  HostsChips(const WorkerOptions& options, std::vector<job::HostShare> hosts, DeathListener on_death)
      : count_(options.devices.size()),
        hosts_(std::move(hosts)),
        on_death_(std::move(on_death)),
        segment_(comm::create_memfd(wire::kNodeSegmentName, segment_bytes())),
        memory_(comm::map_memfd(segment_, segment_bytes())),
        chips_(count_),
        buffers_(std::make_shared<BufferTable>()),
        shelf_(buffers_) {
    write_node_header(memory_->address(), static_cast<std::uint32_t>(count_));
    write_start_messages(options);
    near_.emplace(count_, segment_, [this] { header().waiters.ring(scope()); });
    launcher_.emplace(order_of(options, hosts_, near_->address()),
                      ChipLauncher::Listeners{[this](const job::ChipStart& start) { note_start(start); },
                                              [this](const job::ChipEnd& end) { note_end(end); }});
    try {
      join();
      await_start();
    } catch (...) {
      const std::exception_ptr failure = std::current_exception();
      const auto cause = cause_of_failed_start();
      close();
      if (cause) throw Error(*cause);
      std::rethrow_exception(failure);
    }
  }

  ~HostsChips() override { close(); }

  [[nodiscard]] wire::NodeHeader& header() noexcept override {
    return *static_cast<wire::NodeHeader*>(memory_->address());
  }
  [[nodiscard]] FutexScope scope() const noexcept override { return FutexScope::shared; }
  [[nodiscard]] pid_t pid(std::size_t chip) const noexcept override {
    return chips_[chip].pid.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::string process(std::size_t chip) const override {
    return fmt::format("pid {} on host {}", pid(chip), host_of(chip));
  }
  [[nodiscard]] std::string host(std::size_t chip) const override { return host_of(chip); }
  [[nodiscard]] bool is_stopped(std::size_t chip) noexcept override {
    return launcher_->is_stopped(static_cast<int>(chip), Deadline::after(kSightPatience));
  }

  void give(std::size_t chip, const SharedBuffer& buffer) override {
    if (!is_far(chip)) return near_->give(chip, buffer);
    buffers_->insert(buffer.id,
                     {static_cast<std::byte*>(buffer.memory->address()), buffer.bytes, buffer.name, buffer.memory});
    chips_[chip].courier->send(FarKind::give, {buffer.id, buffer.bytes, 0}, std::as_bytes(std::span(buffer.name)));
  }
  [[nodiscard]] std::optional<LibraryOffer> offer(std::size_t chip, const std::string& library) override {
    return is_far(chip) ? shelf_.offer(library) : std::nullopt;
  }
  void forget(std::uint64_t buffer) noexcept override { buffers_->erase(buffer); }
  void share_staging(std::size_t chip, std::uint64_t offset, std::uint64_t bytes) override {
    if (!is_far(chip)) return;
    chips_[chip].courier->send(FarKind::staging, {offset, 0, 0},
                               views_of(header(), chip).staging.subspan(offset, bytes));
  }
  void ring(std::size_t chip) noexcept override {
    if (!is_far(chip)) return near_->ring(chip);
    try {
      chips_[chip].courier->carry();
    } catch (const std::exception& error) {
      log::warn("what the node has to say to chip {} does not reach it: {}", chip, error.what());
    }
  }
  [[nodiscard]] bool is_far(std::size_t chip) const noexcept override { return chips_[chip].courier != nullptr; }
  void progress() noexcept override { world_->path()->progress(); }
  [[nodiscard]] Lookout* lookout() noexcept override { return world_->path(); }

  void end_waits() noexcept override {
    near_->end_waits();
    for (std::size_t chip = 0; chip < count_; ++chip) {
      if (!is_far(chip)) continue;
      try {
        chips_[chip].courier->send(FarKind::abandon, {}, {});
      } catch (const std::exception& error) {
        log::warn("chip {} waits until its deadline: {}", chip, error.what());
      }
    }
  }

  void end(const Deadline& deadline) noexcept override {
    {
      std::unique_lock lock(mutex_);
      closing_ = true;
      changed_.wait_until(lock, deadline.when(), [this] { return ended_ == count_; });
    }
    close();
  }
  void kill(std::size_t chip) noexcept override { launcher_->signal(static_cast<int>(chip), SIGKILL); }

 private:
  struct Chip {
    std::unique_ptr<Courier> courier;  // null for one of this host
    std::atomic<pid_t> pid{0};
    bool ended = false;  // this and the next are guarded by mutex_
    std::string how;
  };

  [[nodiscard]] std::uint64_t segment_bytes() const { return wire::node_segment_bytes(count_, mailbox_sizes()); }

  [[nodiscard]] const job::HostShare& share_of(std::size_t chip) const noexcept {
    const auto number = static_cast<int>(chip);
    return *std::find_if(hosts_.begin(), hosts_.end(),
                         [&](const job::HostShare& host) { return number < host.first_rank + host.count; });
  }
  [[nodiscard]] const std::string& host_of(std::size_t chip) const noexcept { return share_of(chip).name; }

  void write_start_messages(const WorkerOptions& options) {
    MessageWriter message;
    for (std::size_t chip = 0; chip < count_; ++chip) {
      put_start(
          message,
          {.size = share_of(chip).count, .job = {}, .launcher = {}, .node = {}, .chip = chip_options(options, chip)});
      static_cast<void>(StreamWriter(views_of(header(), chip).control).write(message.finish()));
    }
  }

  void join() {
    const auto& set = baton::options();
    const job::Meeting meeting = launcher_->await_meeting(Deadline::after(set.join_timeout + kLauncherPatience));
    Options mine = set;
    mine.launcher = meeting.watch;
    world_ = job::connect(
        job::join_through_agent(meeting.agent, static_cast<std::uint32_t>(count_), Deadline::after(set.join_timeout)),
        mine);
    comm::Path& path = *world_->path();
    for (std::size_t chip = 0; chip < count_; ++chip) {
      if (near_->has(chip)) continue;
      chips_[chip].courier =
          std::make_unique<Courier>(path, static_cast<std::uint32_t>(chip), wire::mailbox_of(header(), chip),
                                    views_of(header(), chip), Courier::Side::node);
    }
    memory_server_.emplace(buffers_, [this](std::uint32_t chip, const FarAnswer& answer) {
      chips_[chip].courier->send(FarKind::data, {answer.request, answer.refused ? 1U : 0U, 0}, answer.bytes);
    });
    path.delivery().listen(kFarTopic, [this](std::uint32_t source, std::span<const std::byte> bytes) {
      if (source >= count_ || !is_far(source)) return;
      if (const auto message = far_message(bytes)) take(source, *message);
    });
    for (const Chip& chip : chips_) {
      if (chip.courier) chip.courier->carry();
    }
  }

  /// Under the locks of the path: writes down what came, and wakes those that wait for it.
  void take(std::uint32_t chip, const FarMessage& message) {
    switch (message.head.kind) {
      case FarKind::rings: chips_[chip].courier->take(message); break;
      case FarKind::staging: take_staging(views_of(header(), chip).staging, message); return;
      case FarKind::fetch: memory_server_->ask(chip, message); return;
      case FarKind::changes:
        if (!memory_server_->change(message)) log::warn("chip {} wrote to memory that is not there", chip);
        return;
      default: log::warn("chip {} sent a message of kind {}", chip, static_cast<std::uint32_t>(message.head.kind));
    }
    header().waiters.ring(scope());
    header().service.ring(scope());
  }

  void await_start() {
    const Deadline deadline = Deadline::after(baton::options().join_timeout);
    const ParkingPlace place{&header().waiters, scope(), crowding_of(2), /*gives_way_to_strangers=*/false, lookout()};
    for (std::size_t i = 0; i < count_; ++i) {
      const auto phase = [&] {
        return static_cast<wire::ChipPhase>(wire::mailbox_of(header(), i).phase.load(std::memory_order_seq_cst));
      };
      const auto settled = [&] {
        progress();
        if (some_ended_.load(std::memory_order_seq_cst) || phase() == wire::ChipPhase::failed) return true;
        return phase() == wire::ChipPhase::ready && (is_far(i) || near_->can_ring(i));
      };
      if (!wait_until(place, settled, deadline, [] {})) {
        fail(Code::join_timeout, "chip {} on host {} was not ready in time", i, host_of(i));
      }
      if (phase() == wire::ChipPhase::failed) throw_report(i);
      if (some_ended_.load(std::memory_order_seq_cst)) fail(Code::launch_failed, "a chip ended while it was started");
    }
    const std::lock_guard lock(mutex_);
    if (ended_ > 0) fail(Code::launch_failed, "a chip ended while it was started");
    running_ = true;
  }

  [[noreturn]] void throw_report(std::size_t chip) {
    StreamReader reports(views_of(header(), chip).reports);
    const auto record = reports.next();
    if (!record) fail(Code::internal, "chip {} could not start and did not say why", chip);
    MessageReader message(*record);
    static_cast<void>(message.get<std::uint64_t>());
    Failure failure = get_failure(message);
    failure.notes.push_back(fmt::format("chip {} ({}) said so when it was started", chip, process(chip)));
    refused_.emplace(failure.code, failure.message, failure.notes, failure.remedy);
    throw Error(*refused_);
  }

  /// What a chip said itself; what its host said; how it ended. Nothing if nothing is known.
  [[nodiscard]] std::optional<Error> cause_of_failed_start() {
    if (refused_) return refused_;
    if (auto failure = launcher_->failure(Deadline::after(std::chrono::nanoseconds(0)))) return failure;
    std::unique_lock lock(mutex_);
    for (std::size_t chip = 0; chip < count_; ++chip) {
      if (!chips_[chip].ended) continue;
      return Error(Code::launch_failed,
                   fmt::format("chip {} ({}) ended while it was started: {}", chip, process(chip), chips_[chip].how),
                   {"its own output, above, may say why"});
    }
    lock.unlock();
    return launcher_->failure(Deadline::after(kReasonPatience));
  }

  void note_start(const job::ChipStart& start) {
    if (start.chip < 0 || static_cast<std::size_t>(start.chip) >= count_) return;
    chips_[static_cast<std::size_t>(start.chip)].pid.store(start.pid, std::memory_order_relaxed);
  }

  /// On the launcher's thread.
  void note_end(const job::ChipEnd& end) {
    const auto number = static_cast<std::size_t>(end.chip);
    if (number >= count_) {
      // Without its own agent the node is no longer a rank, and learns of no other.
      for (std::size_t chip = 0; chip < count_; ++chip) {
        note_end({static_cast<std::int32_t>(chip), "the agent of the node's own host ended"});
      }
      return;
    }
    bool is_told = false;
    {
      const std::lock_guard lock(mutex_);
      if (chips_[number].ended) return;
      chips_[number].ended = true;
      chips_[number].how = end.how;
      ++ended_;
      is_told = running_ && !closing_;
      changed_.notify_all();
    }
    // Pairs with the load in await_start(), which is tested before sleeping.
    some_ended_.store(true, std::memory_order_seq_cst);
    header().waiters.ring(scope());
    if (is_told) on_death_(number, end.how);
  }

  void close() noexcept {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    if (launcher_) launcher_->end();
    if (!world_) return;
    world_->path()->delivery().stop_listening(kFarTopic);
    memory_server_.reset();
    world_->leave(comm::Farewell::leave);
    for (Chip& chip : chips_) chip.courier.reset();
    world_.reset();
  }

  std::size_t count_;
  std::vector<job::HostShare> hosts_;
  DeathListener on_death_;
  UniqueFd segment_;
  std::shared_ptr<comm::SharedMemory> memory_;
  std::optional<NearChips> near_;  // its thread rings
  std::vector<Chip> chips_;
  std::shared_ptr<BufferTable> buffers_;
  LibraryShelf shelf_;  // used by one thread at a time, like give()
  std::shared_ptr<comm::World> world_;
  std::optional<FarMemoryServer> memory_server_;
  std::optional<Error> refused_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t ended_ = 0;  // guarded by mutex_, like the next two
  bool running_ = false;
  bool closing_ = false;
  std::atomic<bool> some_ended_{false};
  std::optional<ChipLauncher> launcher_;  // its thread uses the others
};

}  // namespace

std::vector<job::HostShare> shares_of(const WorkerOptions& options) {
  if (options.hosts.empty()) return {};
  std::vector<job::HostSlots> hosts = job::parse_hosts(options.hosts);
  const std::size_t chips = options.devices.size();
  const bool has_slots = hosts.front().slots.has_value();
  // Without numbers, a host that would get no chip is left out.
  if (!has_slots && chips != 0 && chips < hosts.size()) hosts.resize(chips);
  const int room = std::accumulate(hosts.begin(), hosts.end(), 0,
                                   [](int sum, const job::HostSlots& host) { return sum + host.slots.value_or(1); });
  if (has_slots && static_cast<int>(chips) > room) {
    fail(Code::invalid_argument, "{} devices, and the hosts {} take {} chips", chips, options.hosts, room);
  }
  return job::share_ranks(hosts, chips == 0 ? std::nullopt : std::optional(static_cast<int>(chips)));
}

std::unique_ptr<Chips> start_hosts_chips(const WorkerOptions& options, DeathListener on_death) {
  if (events::wants(EventKind::touch)) {
    throw Error(Code::unsupported, "a check does not see what chips of other hosts do", {},
                "Check the program with its chips on one host: leave out hosts= and BATON_HOSTS.");
  }
  return std::make_unique<HostsChips>(options, shares_of(options), std::move(on_death));
}

}  // namespace baton::node
