#include "chip/cores/sim/sim_cores.hpp"

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "base/fiber.hpp"
#include "base/processors.hpp"

namespace baton::chip {
namespace {

int checked_clusters(const Profile& profile, int asked) {
  if (asked < 0 || asked > profile.clusters) {
    fail(Code::invalid_argument, "{} clusters are not possible; {} has {}", asked, profile.name, profile.clusters);
  }
  return asked == 0 ? profile.clusters : asked;
}

Deadline never() { return Deadline::at(Deadline::Clock::time_point::max()); }

}  // namespace

SimCores::SimCores(const Profile& profile, const SimOptions& options, GlobalMemory& memory)
    : memory_(memory),
      place_(memory.parking_place()),
      clusters_(checked_clusters(profile, options.clusters)),
      dma_(memory, {.seed = options.seed}) {
  for (int number = 0; number < clusters_ * kCoresPerCluster; ++number) {
    const int within = number % kCoresPerCluster;
    const CorePlace place{number, number / kCoresPerCluster, within == 0 ? CoreType::cube : CoreType::vector,
                          within == 0 ? 0 : within - 1};
    cores_.push_back(std::make_unique<Seat>(place, profile, memory_, dma_));
  }
  running_fibers_ = core_count() + 1;
  if (on_fiber()) {
    add_fibers([](std::function<void()> body) { spawn_fiber(std::move(body)); });
    return;
  }
  const int workers = options.seed ? 1 : options.workers > 0 ? options.workers : usable_processors();
  auto pool = std::make_shared<FiberPool>(
      FiberPoolOptions{.workers = workers, .stack_bytes = options.stack_bytes, .seed = options.seed, .place = place_});
  add_fibers([&](std::function<void()> body) { pool->add(std::move(body)); });
  thread_ = std::thread([pool] { pool->run(); });
}

SimCores::~SimCores() {
  // Pairs with the loads in work().
  stop_.store(true, std::memory_order_seq_cst);
  dma_.stop();
  ring();
  if (thread_.joinable()) {
    thread_.join();
    return;
  }
  const auto ended = [this] { return running_fibers_.load(std::memory_order_seq_cst) == 0; };
  static_cast<void>(wait_until(place_, ended, never(), [] {}));
}

void SimCores::add_fibers(FunctionRef<void(std::function<void()>)> add) {
  const auto counted = [this](auto body) {
    return [this, body] {
      body();
      running_fibers_.fetch_sub(1, std::memory_order_seq_cst);
      ring();
    };
  };
  for (auto& seat : cores_) add(counted([this, &seat = *seat] { work(seat); }));
  add(counted([this] { dma_.serve(); }));
}

void SimCores::ring() { place_.doorbell->ring(place_.scope); }

void SimCores::post(int core, KernelCall& call) {
  Seat& seat = *cores_.at(static_cast<std::size_t>(core));
  if (call.entry == nullptr) fail(Code::invalid_argument, "the kernel '{}' has no entry", call.name);
  call.finished.store(false, std::memory_order_relaxed);
  call.error = nullptr;
  {
    const std::lock_guard lock(seat.mutex);
    seat.calls.push_back(&call);
  }
  // Pairs with the load in work(). Sequentially consistent because the doorbell is rung after it.
  seat.waiting.fetch_add(1, std::memory_order_seq_cst);
  ring();
}

void SimCores::work(Seat& seat) {
  const auto called = [&] {
    return seat.waiting.load(std::memory_order_seq_cst) != 0 || stop_.load(std::memory_order_seq_cst);
  };
  while (true) {
    // A core has no deadline of its own: it ends when the chip does.
    static_cast<void>(wait_until(place_, called, never(), [] {}));
    if (stop_.load(std::memory_order_seq_cst)) return;
    KernelCall* call = nullptr;
    {
      const std::lock_guard lock(seat.mutex);
      call = seat.calls.front();
      seat.calls.pop_front();
    }
    seat.waiting.fetch_sub(1, std::memory_order_relaxed);
    seat.core.run(*call);
    // Pairs with the load in wait(): whoever sees it sees what the kernel wrote, and its error.
    call->finished.store(true, std::memory_order_seq_cst);
    ring();
  }
}

void SimCores::wait(KernelCall& call) {
  const auto finished = [&] { return call.finished.load(std::memory_order_seq_cst); };
  const auto timeout = options().wait_timeout;
  if (!finished() && !wait_until(place_, finished, Deadline::within(timeout), [] {})) {
    fail(Code::wait_timeout, "the kernel '{}' did not finish within {} s", call.name,
         std::chrono::duration_cast<std::chrono::seconds>(timeout).count());
  }
  if (call.error) std::rethrow_exception(call.error);
}

}  // namespace baton::chip
