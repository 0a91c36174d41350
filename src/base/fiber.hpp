// Fibers: many waiting activities on few threads.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/parking.hpp"

namespace baton {

/// Whether the caller runs on a fiber.
[[nodiscard]] bool on_fiber() noexcept;
/// Whether nothing else could run on the caller's thread while it waits: it runs on no fiber, or on the only one.
[[nodiscard]] bool alone_on_thread() noexcept;

/// wait_until() for a caller on a fiber: other fibers of its thread run meanwhile.
[[nodiscard]] bool fiber_wait_until(const ParkingPlace& place, FunctionRef<bool()> test, const Deadline& deadline,
                                    FunctionRef<void()> before_sleep);

struct FiberPoolOptions {
  int threads = 1;
  std::size_t stack_bytes = 256 * 1024;
  /// With a seed and one thread, which of the fibers that can run goes next follows from the seed and nothing else.
  std::optional<std::uint64_t> seed = std::nullopt;
  /// Where threads sleep when none of their fibers can run. A change that makes a waiting fiber's test hold rings it.
  ParkingPlace place;
};

/// One word that belongs to the calling fiber, or to the calling thread outside of fibers. Starts as nullptr.
[[nodiscard]] void*& fiber_local() noexcept;

/// From a fiber: adds another one to the caller's thread, with a stack of the pool's size. `body` must not throw.
void spawn_fiber(std::function<void()> body);

/// From a fiber: lets the others of its thread have a turn.
void yield_fiber();

/// Names a fiber of the calling thread.
class FiberRef {
 public:
  FiberRef() = default;

 private:
  friend FiberRef this_fiber() noexcept;
  friend void wake_fiber(FiberRef fiber);
  explicit FiberRef(void* fiber) noexcept : fiber_(fiber) {}
  void* fiber_ = nullptr;
};

/// The calling fiber.
[[nodiscard]] FiberRef this_fiber() noexcept;
/// The calling fiber rests until another one of its thread wakes it. Unlike one that waits, it costs its thread nothing
/// meanwhile.
void rest_fiber();
/// From a fiber: `fiber`, of the same thread, goes on after its rest.
void wake_fiber(FiberRef fiber);

/// A fiber beside those of pools: a thread calls a function that may wait, and does not wait with it.
///
/// Made, run and destroyed outside of fibers, by one thread at a time.
class GuestFiber {
 public:
  /// `body` must not throw.
  explicit GuestFiber(std::function<void()> body, std::size_t stack_bytes = FiberPoolOptions{}.stack_bytes);
  GuestFiber(GuestFiber&&) noexcept;
  GuestFiber& operator=(GuestFiber&&) = delete;
  ~GuestFiber();

  /// Calls the body on the fiber. True if it returned; false if it waits: then the fiber must be adopted.
  [[nodiscard]] bool run();

 private:
  friend void adopt_fiber(GuestFiber guest);
  struct State;
  std::unique_ptr<State> state_;
};

/// From a fiber of a pool: a guest whose body waits becomes a fiber of the caller's thread. It ends with the body.
void adopt_fiber(GuestFiber guest);

/// Runs functions as fibers, each statically assigned to one of a few threads.
class FiberPool {
 public:
  explicit FiberPool(const FiberPoolOptions& options);
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;
  ~FiberPool();

  /// Adds a fiber; before run(). `body` must not throw. Fibers are spread over the threads in the order in which they
  /// are added, or run on the thread of that number.
  void add(std::function<void()> body, std::optional<int> thread = std::nullopt);

  /// Runs all fibers to their end; the calling thread is one of the threads. Throws before any fiber has run if the
  /// system gives too few.
  void run();

  /// The same on threads of the pool alone, until join().
  void start();
  void join();

 private:
  class Carrier;
  FiberPoolOptions options_;
  struct Body {
    std::function<void()> function;
    std::optional<int> thread;
  };
  void deal_bodies();
  /// Those of all carriers but the first `skipped`.
  void start_threads(std::size_t skipped);

  std::vector<Body> bodies_;
  std::vector<std::unique_ptr<Carrier>> carriers_;  // one for each thread
  std::vector<std::thread> threads_;
};

}  // namespace baton
