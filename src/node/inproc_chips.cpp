// Chips in the process of their node: simulated ones as fibers of a few threads, others with threads of their own,
// which the libraries of their platforms may block.
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <thread>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "base/fiber.hpp"
#include "base/processors.hpp"
#include "base/service_thread.hpp"
#include "chip/cores/profile.hpp"
#include "comm/backends/inproc/inproc_job.hpp"
#include "comm/domain_state.hpp"
#include "comm/health.hpp"
#include "node/chip_server.hpp"
#include "node/chips.hpp"

namespace baton::node {
namespace {

class InprocChips final : public Chips {
 public:
  explicit InprocChips(const WorkerOptions& options)
      : count_(options.devices.size()),
        on_fibers_(chip::is_simulated(options.platform)),
        segment_(comm::create_memfd(wire::kNodeSegmentName, wire::node_segment_bytes(count_, mailbox_sizes()))),
        memory_(comm::map_memfd(segment_, wire::node_segment_bytes(count_, mailbox_sizes()))),
        job_(std::make_shared<inproc::Job>(static_cast<std::uint32_t>(count_), "node",
                                           on_fibers_ ? comm::Hosting::fibers : comm::Hosting::threads)),
        buffers_(count_) {
    write_node_header(memory_->address(), static_cast<std::uint32_t>(count_));
    for (std::uint32_t rank = 0; rank < count_; ++rank) job_->enter(rank);
    try {
      if (on_fibers_) {
        start_fibers(options);
      } else {
        start_threads(options);
      }
      await_start();
    } catch (...) {
      stop_all();
      join();
      throw;
    }
  }

  ~InprocChips() override { end(Deadline::never()); }

  [[nodiscard]] wire::NodeHeader& header() noexcept override {
    return *static_cast<wire::NodeHeader*>(memory_->address());
  }
  void ring(std::size_t chip) noexcept override { wire::doorbell_of(job_->control(), chip).ring(scope()); }
  void end_waits() noexcept override {
    for (std::uint32_t chip = 0; chip < count_; ++chip) {
      comm::mark_dead(job_->control(), chip, wire::EndKind::error, 0, scope());
    }
  }
  [[nodiscard]] FutexScope scope() const noexcept override { return FutexScope::process; }
  [[nodiscard]] pid_t pid(std::size_t /*chip*/) const noexcept override { return ::getpid(); }

  void give(std::size_t chip, const SharedBuffer& buffer) override {
    buffers_[chip].insert(buffer.id,
                          {static_cast<std::byte*>(buffer.memory->address()), buffer.bytes, buffer.name, nullptr});
  }

  // Their waits have deadlines of their own: a part of this process cannot be killed.
  void end(const Deadline& /*deadline*/) noexcept override { join(); }
  void kill(std::size_t /*chip*/) noexcept override {}

 private:
  void start_fibers(const WorkerOptions& options) {
    const std::optional<std::uint64_t> seed = baton::options().seed;
    const int threads = seed ? 1 : std::min(static_cast<int>(count_), std::max(1, usable_processors()));
    pool_ = std::make_unique<FiberPool>(FiberPoolOptions{
        .threads = threads,
        .seed = seed,
        .place = {&job_->control().doorbell, FutexScope::process, crowding_of(static_cast<std::size_t>(threads) + 1)}});
    for (std::uint32_t rank = 0; rank < count_; ++rank) {
      pool_->add([this, rank, options] {
        run_chip(rank, options, [](const std::shared_ptr<ChipServer>& server) {
          // It ends by itself, after this fiber or before.
          spawn_fiber([server] { server->run_control(); });
        });
      });
    }
    pool_->start();
  }

  void start_threads(const WorkerOptions& options) {
    for (std::uint32_t rank = 0; rank < count_; ++rank) {
      threads_.push_back(start_thread([this, rank, options] {
        std::thread control;
        run_chip(rank, options, [&](const std::shared_ptr<ChipServer>& server) {
          control = start_thread([server] { server->run_control(); });
        });
        control.join();
      }));
    }
  }

  void join() {
    if (pool_) pool_->join();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  /// `serve`: lets the control messages be served beside its tasks.
  void run_chip(std::uint32_t rank, const WorkerOptions& options,
                const std::function<void(const std::shared_ptr<ChipServer>&)>& serve) {
    auto world =
        std::make_shared<comm::World>(inproc::connect(job_, rank), rank, job_->name(), baton::options().wait_timeout);
    const auto server = std::make_shared<ChipServer>(header(), Domain(comm::DomainState::of_world(world)),
                                                     buffers_[rank], FutexScope::process);
    serve(server);
    static_cast<void>(server->run_tasks(chip_options(options, rank), [](wire::ChipPhase) {}));
    world->leave(comm::Farewell::leave);
  }

  void await_start() {
    const Deadline deadline = Deadline::after(options().join_timeout);
    const ParkingPlace place{&header().waiters, FutexScope::process, crowding_of(2)};
    for (std::size_t i = 0; i < count_; ++i) {
      const auto phase = [&] {
        return static_cast<wire::ChipPhase>(wire::mailbox_of(header(), i).phase.load(std::memory_order_seq_cst));
      };
      const auto started = [&] { return phase() != wire::ChipPhase::starting; };
      if (!wait_until(place, started, deadline, [] {})) {
        fail(Code::join_timeout, "chip {} of {} was not ready in time", i, count_);
      }
      if (phase() == wire::ChipPhase::failed) throw_report(i);
    }
  }

  [[noreturn]] void throw_report(std::size_t chip) {
    StreamReader reports(views_of(header(), chip).reports);
    const auto record = reports.next();
    if (!record) fail(Code::internal, "chip {} could not start and did not say why", chip);
    MessageReader message(*record);
    static_cast<void>(message.get<std::uint64_t>());
    const Failure failure = get_failure(message);
    throw Error(failure.code, failure.message, failure.notes, failure.remedy);
  }

  void stop_all() {
    MessageWriter message;
    for (std::size_t i = 0; i < count_; ++i) {
      const MailboxViews views = views_of(header(), i);
      message.begin(MessageKind::stop);
      static_cast<void>(StreamWriter(views.tasks).write(message.finish()));
      message.begin(MessageKind::stop_control);
      message.put(std::uint64_t{0});
      static_cast<void>(StreamWriter(views.control).write(message.finish()));
      ring(i);
    }
  }

  std::size_t count_;
  bool on_fibers_;
  UniqueFd segment_;
  std::shared_ptr<comm::SharedMemory> memory_;
  std::shared_ptr<inproc::Job> job_;
  std::vector<BufferTable> buffers_;  // by chip
  // One of the two.
  std::unique_ptr<FiberPool> pool_;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Chips> start_inproc_chips(const WorkerOptions& options) {
  return std::make_unique<InprocChips>(options);
}

}  // namespace baton::node
