#include "base/fiber.hpp"

#include <sched.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <future>
#include <optional>
#include <random>

#include "base/fiber_switch.hpp"
#include "base/service_thread.hpp"

namespace baton {
namespace {

/// Sweeps over waiting fibers between two looks at the clock while other fibers make progress.
constexpr int kSweepsPerClock = 256;

// Two words that are looked at with every kernel: no call to find out where they are.
#define BATON_FAST_TLS [[gnu::tls_model("initial-exec")]]

class Fiber;
BATON_FAST_TLS thread_local Fiber* current_fiber = nullptr;
BATON_FAST_TLS thread_local void* thread_word = nullptr;
/// What a running thread does for its fibers.
struct ThreadServices {
  std::function<void(std::function<void()>)> spawn;
  std::function<void(Fiber&)> wake;
  /// Its owner lives as long as it does.
  std::function<void(Fiber&, const std::shared_ptr<void>&)> adopt;
  /// Only one fiber could run on this thread.
  bool has_one_fiber = false;
};
/// Set while a thread runs.
thread_local ThreadServices* current_services = nullptr;

/// What a suspended fiber waits for. Lives on its stack.
struct Wait {
  ParkingPlace place;
  FunctionRef<bool()> test;
  const Deadline& deadline;
  FunctionRef<void()> before_sleep;
  bool held = false;
};

class Fiber {
 public:
  Fiber(std::function<void()> body, std::size_t stack_bytes, StackIdentity* thread)
      : body_(std::move(body)),
        thread_(thread),
        allocator_(stack_bytes),
        stack_(allocator_.allocate()),
        identity_(StackIdentity::of_stack(static_cast<char*>(stack_.sp) - stack_.size, stack_.size)),
        context_(std::allocator_arg, boost::context::preallocated(stack_.sp, stack_.size, stack_), Keep{},
                 [this](boost::context::fiber&& caller) { return enter(std::move(caller)); }) {}
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber() {
    identity_.destroy();
    allocator_.deallocate(stack_);
  }

  /// Runs the fiber until it waits or ends. On its thread, not on a fiber.
  void resume() {
    current_fiber = this;
    thread_->before_leaving_to(identity_);
    context_ = std::move(context_).resume();
    thread_->after_arriving(identity_);
    current_fiber = nullptr;
  }

  /// From the fiber itself: gives the thread away until resume().
  bool suspend(Wait& wait) {
    wait_ = &wait;
    identity_.before_leaving_to(*thread_);
    caller_ = std::move(caller_).resume();
    identity_.after_arriving(*thread_);
    return wait.held;
  }

  /// From the fiber itself: gives the thread away until it is woken.
  void rest() {
    resting_ = true;
    identity_.before_leaving_to(*thread_);
    caller_ = std::move(caller_).resume();
    identity_.after_arriving(*thread_);
  }

  /// It is resumed by another thread from now on.
  void move_to(StackIdentity* thread) noexcept { thread_ = thread; }

  [[nodiscard]] bool ended() const noexcept { return ended_; }
  [[nodiscard]] bool resting() const noexcept { return resting_; }
  void stop_resting() noexcept { resting_ = false; }
  [[nodiscard]] void*& word() noexcept { return word_; }
  [[nodiscard]] Wait* wait() const noexcept { return wait_; }
  void stop_waiting(bool held) noexcept {
    wait_->held = held;
    wait_ = nullptr;
  }

 private:
  /// The fiber object frees its stack itself, after the sanitizers have been told.
  struct Keep {
    void deallocate(boost::context::stack_context&) noexcept {}
  };

  boost::context::fiber enter(boost::context::fiber&& caller) {
    caller_ = std::move(caller);
    identity_.after_arriving(*thread_);
    body_();
    ended_ = true;
    identity_.before_last_leaving_to(*thread_);
    return std::move(caller_);
  }

  std::function<void()> body_;
  StackIdentity* thread_;
  boost::context::protected_fixedsize_stack allocator_;
  boost::context::stack_context stack_;
  StackIdentity identity_;
  boost::context::fiber context_;
  boost::context::fiber caller_;
  Wait* wait_ = nullptr;
  void* word_ = nullptr;
  bool ended_ = false;
  bool resting_ = false;
};

}  // namespace

bool on_fiber() noexcept { return current_fiber != nullptr; }
bool alone_on_thread() noexcept {
  return current_fiber == nullptr || (current_services != nullptr && current_services->has_one_fiber);
}

void*& fiber_local() noexcept { return current_fiber != nullptr ? current_fiber->word() : thread_word; }

bool fiber_wait_until(const ParkingPlace& place, FunctionRef<bool()> test, const Deadline& deadline,
                      FunctionRef<void()> before_sleep) {
  if (place.crowding == Crowding::spare && look_for_a_moment(test)) return true;
  Wait wait{place, test, deadline, before_sleep};
  return current_fiber->suspend(wait);
}

void spawn_fiber(std::function<void()> body) { current_services->spawn(std::move(body)); }

FiberRef this_fiber() noexcept { return FiberRef(current_fiber); }
void rest_fiber() { current_fiber->rest(); }
void wake_fiber(FiberRef fiber) { current_services->wake(*static_cast<Fiber*>(fiber.fiber_)); }

void yield_fiber() {
  const ParkingPlace nowhere{nullptr, FutexScope::process, Crowding::spare};
  static_cast<void>(fiber_wait_until(
      nowhere, [] { return true; }, Deadline::within(std::chrono::seconds(1)), [] {}));
}

struct GuestFiber::State {
  State(std::function<void()> function, std::size_t stack_bytes)
      : body(std::move(function)), fiber(std::make_unique<Fiber>([this] { live(); }, stack_bytes, nullptr)) {}

  void live() const {
    while (!ending) {
      body();
      // The thread that adopted it has no use for a guest.
      if (ending) return;
      fiber->rest();
    }
  }

  /// The stack that it is entered from and comes back to: the caller's.
  StackIdentity& callers_stack() {
    // The address of any word of a thread tells threads apart.
    if (caller != &thread_word) {
      caller = &thread_word;
      stack = StackIdentity::of_thread();
    }
    return *stack;
  }

  std::function<void()> body;
  bool ending = false;
  const void* caller = nullptr;
  std::optional<StackIdentity> stack;
  std::unique_ptr<Fiber> fiber;
};

GuestFiber::GuestFiber(std::function<void()> body, std::size_t stack_bytes)
    : state_(std::make_unique<State>(std::move(body), stack_bytes)) {}
GuestFiber::GuestFiber(GuestFiber&&) noexcept = default;

GuestFiber::~GuestFiber() {
  if (!state_) return;
  // It rests, or was never run: its frames end as any function's.
  state_->ending = true;
  state_->fiber->move_to(&state_->callers_stack());
  state_->fiber->resume();
}

bool GuestFiber::run() {
  state_->fiber->move_to(&state_->callers_stack());
  state_->fiber->stop_resting();
  state_->fiber->resume();
  return state_->fiber->resting();
}

void adopt_fiber(GuestFiber guest) {
  // It lives as long as the fiber, whose frames refer to it.
  std::shared_ptr<GuestFiber::State> state = std::move(guest.state_);
  state->ending = true;
  current_services->adopt(*state->fiber, state);
}

/// One thread and its fibers.
class FiberPool::Carrier {
 public:
  Carrier(const FiberPoolOptions& options, std::vector<std::function<void()>> bodies)
      : options_(options), bodies_(std::move(bodies)) {}

  void run() {
    StackIdentity thread = StackIdentity::of_thread();
    ThreadServices services{
        .spawn =
            [&](std::function<void()> body) {
              all_.push_back(std::make_shared<Fiber>(std::move(body), options_.stack_bytes, &thread));
              join(all_.back().get());
            },
        .wake =
            [&](Fiber& fiber) {
              fiber.stop_resting();
              join(&fiber);
            },
        .adopt =
            [&](Fiber& fiber, const std::shared_ptr<void>& owner) {
              fiber.move_to(&thread);
              all_.emplace_back(owner, &fiber);
              join(&fiber);
            }};
    services_ = &services;
    current_services = &services;
    for (auto& body : bodies_) services.spawn(std::move(body));
    adopt_joining();
    while (!all_.empty()) {
      if (options_.seed ? run_one() : sweep()) {
        if (++sweeps_ % kSweepsPerClock == 0) expire();
      } else {
        idle();
      }
    }
    current_services = nullptr;
  }

 private:
  void join(Fiber* fiber) {
    joining_.push_back(fiber);
    services_->has_one_fiber = false;
  }

  /// Fibers join the others between turns: a running sweep must not see its list change.
  void adopt_joining() {
    fibers_.insert(fibers_.end(), joining_.begin(), joining_.end());
    joining_.clear();
    // A seed decides every turn.
    services_->has_one_fiber = fibers_.size() == 1 && !options_.seed;
  }

  [[nodiscard]] static bool can_run(const Fiber& fiber) { return fiber.wait() == nullptr || fiber.wait()->test(); }

  /// Runs one fiber that can run, chosen by the seed. True if there was one.
  bool run_one() {
    ready_.clear();
    for (std::size_t i = 0; i < fibers_.size(); ++i) {
      if (can_run(*fibers_[i])) ready_.push_back(i);
    }
    if (ready_.empty()) return false;
    turn(ready_[random_() % ready_.size()]);
    adopt_joining();
    return true;
  }

  /// Gives the fiber at `index` the thread until it waits. True if it is not one of `fibers_` any more.
  bool turn(std::size_t index) {
    Fiber& fiber = *fibers_[index];
    if (fiber.wait() != nullptr) fiber.stop_waiting(true);
    fiber.resume();
    if (!fiber.ended() && !fiber.resting()) return false;
    fibers_.erase(fibers_.begin() + static_cast<std::ptrdiff_t>(index));
    if (fiber.ended()) std::erase_if(all_, [&](const auto& one) { return one.get() == &fiber; });
    return true;
  }

  /// Runs every fiber that can run, once. True if any could.
  bool sweep() {
    bool progress = false;
    for (std::size_t i = 0; i < fibers_.size();) {
      if (!can_run(*fibers_[i])) {
        ++i;
        continue;
      }
      progress = true;
      if (!turn(i)) ++i;
    }
    adopt_joining();
    return progress;
  }

  /// Ends the waits whose deadline has passed. True if there were any.
  bool expire() {
    bool any = false;
    const auto now = Deadline::Clock::now();
    for (auto& fiber : fibers_) {
      Wait* wait = fiber->wait();
      if (wait == nullptr || wait->deadline.when() > now) continue;
      fiber->stop_waiting(wait->test());
      any = true;
    }
    return any;
  }

  [[nodiscard]] bool any_ready() const {
    return std::any_of(fibers_.begin(), fibers_.end(), [](const auto& fiber) { return can_run(*fiber); });
  }

  /// The awake rungs of the ladder. True if a fiber can run.
  bool stay_awake() {
    const auto ready = [this] { return any_ready(); };
    if (options_.place.gives_way_to_strangers) return strangers_.stay_awake_until(ready, options_.place.crowding);
    return stay_awake_until(ready, options_.place.crowding);
  }

  /// Nothing can run: climbs the ladder, as any other waiter.
  void idle() {
    const auto ready = [this] { return any_ready(); };
    if (expire() || stay_awake()) return;
    Deadline::Clock::time_point earliest = Deadline::Clock::time_point::max();
    for (auto& fiber : fibers_) {
      Wait* wait = fiber->wait();
      // A wait on a doorbell that this pool does not sleep on: stay awake for it.
      if (wait->place.doorbell != options_.place.doorbell) return;
      earliest = std::min(earliest, wait->deadline.when());
      wait->before_sleep();
    }
    const LookedOutFor looked_out_for(options_.place);
    options_.place.doorbell->sleep_unless(ready, Deadline::at(earliest), options_.place.scope);
  }

  const FiberPoolOptions& options_;
  std::vector<std::function<void()>> bodies_;
  std::vector<std::shared_ptr<Fiber>> all_;
  std::vector<Fiber*> fibers_;   // those that do not rest
  std::vector<Fiber*> joining_;  // to `fibers_`
  std::vector<std::size_t> ready_;
  ThreadServices* services_ = nullptr;
  std::mt19937_64 random_{options_.seed.value_or(0)};
  int sweeps_ = 0;
  Strangers strangers_;
};

FiberPool::FiberPool(const FiberPoolOptions& options) : options_(options) {}
FiberPool::~FiberPool() = default;

void FiberPool::add(std::function<void()> body, std::optional<int> thread) {
  bodies_.push_back({std::move(body), thread});
}

void FiberPool::deal_bodies() {
  const std::size_t count = std::min(bodies_.size(), static_cast<std::size_t>(std::max(1, options_.threads)));
  std::vector<std::vector<std::function<void()>>> shares(count);
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const std::size_t share =
        bodies_[i].thread ? static_cast<std::size_t>(*bodies_[i].thread) : i * count / bodies_.size();
    shares.at(share).push_back(std::move(bodies_[i].function));
  }
  bodies_.clear();
  for (auto& share : shares) carriers_.push_back(std::make_unique<Carrier>(options_, std::move(share)));
}

void FiberPool::start_threads(std::size_t skipped) {
  // All or none: fibers of one thread wait for those of others.
  std::promise<bool> all;
  const std::shared_future<bool> complete = all.get_future().share();
  try {
    for (std::size_t i = skipped; i < carriers_.size(); ++i) {
      threads_.push_back(start_thread([complete, &carrier = *carriers_[i]] {
        if (complete.get()) carrier.run();
      }));
    }
  } catch (...) {
    all.set_value(false);
    join();
    throw;
  }
  all.set_value(true);
}

void FiberPool::run() {
  deal_bodies();
  if (carriers_.empty()) return;
  start_threads(1);
  carriers_[0]->run();
  join();
}

void FiberPool::start() {
  deal_bodies();
  start_threads(0);
}

void FiberPool::join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  carriers_.clear();
}

}  // namespace baton
