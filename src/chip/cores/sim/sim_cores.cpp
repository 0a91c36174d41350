#include "chip/cores/sim/sim_cores.hpp"

#include <algorithm>

#include "base/actor.hpp"
#include "base/fail.hpp"
#include "base/thread_count.hpp"

namespace baton::chip {
namespace {

int checked_clusters(const Profile& profile, int asked) {
  if (asked < 0 || asked > profile.clusters) {
    fail(Code::invalid_argument, "{} clusters are not possible; {} has {}", asked, profile.name, profile.clusters);
  }
  return asked == 0 ? profile.clusters : asked;
}

// Whose choices are drawn beside those of cores, which have their own numbers.
constexpr std::uint64_t kDma = UINT64_MAX;
constexpr std::uint64_t kNotifier = UINT64_MAX - 1;

std::optional<Chance> chance_for(const SimOptions& options, const GlobalMemory& memory, std::uint64_t who) {
  if (!options.seed) return std::nullopt;
  return Chance(*options.seed, static_cast<std::uint64_t>(memory.rank()), who);
}

}  // namespace

SimCores::SimCores(const Profile& profile, const SimOptions& options, GlobalMemory& memory)
    : memory_(memory),
      place_(memory.parking_place()),
      clusters_(checked_clusters(profile, options.clusters)),
      notifier_(options.seed
                    ? std::make_unique<LateNotifier>(memory, *chance_for(options, memory, kNotifier), options.events)
                    : nullptr),
      dma_(memory,
           {.chance = chance_for(options, memory, kDma), .notifier = notifier_.get(), .events = options.events}),
      own_core_({clusters_ * kCoresPerCluster, CorePosition::kSubmitter, CoreType::vector, 0}, profile,
                surroundings(options)) {
  set_actor_describer(describe_running_kernel);
  const CoreSurroundings around = surroundings(options);
  for (int number = 0; number < clusters_ * kCoresPerCluster; ++number) {
    const int within = number % kCoresPerCluster;
    const CorePosition position{number, number / kCoresPerCluster, within == 0 ? CoreType::cube : CoreType::vector,
                                within == 0 ? 0 : within - 1};
    cores_.push_back(std::make_unique<PostedCore>(position, profile, around));
  }
  watch_kernels(options.kernel_timeout);
  try {
    start(options);
  } catch (...) {
    unwatch_kernels();
    throw;
  }
}

void SimCores::watch_kernels(std::chrono::nanoseconds limit) {
  if (limit == std::chrono::nanoseconds(0)) limit = std::chrono::nanoseconds::max();
  watch_ = KernelWatch::of_process();
  const auto add = [&](SimCore& core) { watch_->add(core.running(), limit, memory_, describe(core.position())); };
  for (const auto& posted : cores_) add(posted->core);
  add(own_core_);
}

void SimCores::unwatch_kernels() noexcept {
  for (const auto& posted : cores_) watch_->remove(posted->core.running());
  watch_->remove(own_core_.running());
}

CoreSurroundings SimCores::surroundings(const SimOptions& options) {
  return {memory_, dma_, options.seed, notifier_.get(), options.order, options.events, options.kernel_timeout};
}

void SimCores::start(const SimOptions& options) {
  check_thread_count("a chip", options.threads);
  const int wanted = options.seed ? 1 : options.threads > 0 ? options.threads : memory_.processors();
  const int threads = on_fiber() ? 1 : std::min(wanted, clusters_);
  running_fibers_ =
      core_count() + (notifier_ ? 2 : 1) + (options.beside ? 1 : 0) + (options.beside_on_each_thread ? threads : 0);
  if (on_fiber()) {
    add_fibers(options, threads, [](std::function<void()> body, int) { spawn_fiber(std::move(body)); });
    return;
  }
  pool_ = std::make_unique<FiberPool>(
      FiberPoolOptions{.threads = threads, .stack_bytes = options.stack_bytes, .seed = options.seed, .place = place_});
  add_fibers(options, threads, [&](std::function<void()> body, int thread) { pool_->add(std::move(body), thread); });
  pool_->start();
}

SimCores::~SimCores() {
  // Pairs with the loads in work().
  stop_.store(true, std::memory_order_seq_cst);
  dma_.stop();
  ring();
  if (pool_) {
    pool_->join();
  } else {
    const auto ended = [this] { return running_fibers_.load(std::memory_order_seq_cst) == 0; };
    static_cast<void>(wait_until(place_, ended, Deadline::never(), [] {}));
  }
  unwatch_kernels();
}

void SimCores::add_fibers(const SimOptions& options, int threads, FunctionRef<void(std::function<void()>, int)> add) {
  const auto counted = [this](auto body) {
    return [this, body] {
      body();
      // The notifier ends last: the others may still send.
      if (running_fibers_.fetch_sub(1, std::memory_order_seq_cst) == 2 && notifier_) notifier_->stop();
      ring();
    };
  };
  for (auto& posted : cores_) {
    // The cores of a cluster share a thread.
    const int thread = posted->core.position().cluster * threads / clusters_;
    if (options.serve) {
      add(counted([serve = options.serve, &core = posted->core] { serve(core); }), thread);
    } else {
      add(counted([this, &posted = *posted] { work(posted); }), thread);
    }
  }
  for (int thread = 0; options.beside_on_each_thread && thread < threads; ++thread) {
    add(counted(options.beside_on_each_thread), thread);
  }
  // On the last thread: the first is the one that is woken first for kernels.
  if (options.beside) add(counted(options.beside), threads - 1);
  add(counted([this] { dma_.serve(); }), threads - 1);
  if (notifier_) add(counted([this] { notifier_->serve(); }), threads - 1);
}

void SimCores::ring() const { place_.doorbell->ring(place_.scope); }

void SimCores::post(int core, KernelCall& call) {
  PostedCore& posted = *cores_.at(static_cast<std::size_t>(core));
  if (call.entry == nullptr) fail(Code::invalid_argument, "the kernel '{}' has no entry", call.name);
  call.finished.store(false, std::memory_order_relaxed);
  call.error = nullptr;
  {
    const std::lock_guard lock(posted.mutex);
    posted.calls.push_back(&call);
  }
  // Pairs with the load in work(). Sequentially consistent because the doorbell is rung after it.
  posted.waiting.fetch_add(1, std::memory_order_seq_cst);
  ring();
}

void SimCores::work(PostedCore& posted) {
  const auto called = [&] {
    return posted.waiting.load(std::memory_order_seq_cst) != 0 || stop_.load(std::memory_order_seq_cst);
  };
  while (true) {
    // A core has no deadline of its own: it ends when the chip does.
    static_cast<void>(wait_until(place_, called, Deadline::never(), [] {}));
    if (stop_.load(std::memory_order_seq_cst)) return;
    KernelCall* call = nullptr;
    {
      const std::lock_guard lock(posted.mutex);
      call = posted.calls.front();
      posted.calls.pop_front();
    }
    posted.waiting.fetch_sub(1, std::memory_order_relaxed);
    posted.core.run(*call);
    // Pairs with the load in wait(): a thread that sees it sees what the kernel wrote, and its error.
    call->finished.store(true, std::memory_order_seq_cst);
    ring();
  }
}

void SimCores::wait(KernelCall& call) {
  // Longer than a wait of the kernel itself may take: its own report says more.
  wait(call, 2 * memory_.wait_timeout());
}

void SimCores::wait(KernelCall& call, std::chrono::nanoseconds timeout) {
  const auto finished = [&] { return call.finished.load(std::memory_order_seq_cst); };
  if (!finished() && !wait_until(place_, finished, Deadline::within(timeout), [] {})) {
    fail(Code::wait_timeout, "the kernel '{}' did not finish within {} ms", call.name,
         std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count());
  }
  if (call.error) std::rethrow_exception(call.error);
}

}  // namespace baton::chip
