// Fibers: many waiting activities on few threads.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/parking.hpp"

namespace baton {

/// Whether the caller runs on a fiber.
[[nodiscard]] bool on_fiber() noexcept;

/// wait_until() for a caller on a fiber: other fibers of its thread run meanwhile.
[[nodiscard]] bool fiber_wait_until(const ParkingPlace& place, FunctionRef<bool()> test, const Deadline& deadline,
                                    FunctionRef<void()> before_sleep);

struct FiberPoolOptions {
  int workers = 1;
  std::size_t stack_bytes = 256 * 1024;
  /// With a seed and one worker, which of the fibers that can run goes next follows from the seed and nothing else.
  std::optional<std::uint64_t> seed = std::nullopt;
  /// Where workers sleep when none of their fibers can run. Whoever makes a waiting fiber's test hold rings it.
  ParkingPlace place;
};

/// One word that belongs to the calling fiber, or to the calling thread outside of fibers. Starts as nullptr.
[[nodiscard]] void*& fiber_local() noexcept;

/// From a fiber: adds another one to the caller's thread, with a stack of the pool's size. `body` must not throw.
void spawn_fiber(std::function<void()> body);

/// From a fiber: lets the others of its thread have a turn.
void yield_fiber();

/// Runs functions as fibers, each statically assigned to one of a few threads.
class FiberPool {
 public:
  explicit FiberPool(const FiberPoolOptions& options);
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;
  ~FiberPool();

  /// Adds a fiber; before run(). `body` must not throw.
  void add(std::function<void()> body);

  /// Runs all fibers to their end; the calling thread is one of the workers.
  void run();

 private:
  class Worker;
  FiberPoolOptions options_;
  std::vector<std::function<void()>> bodies_;
};

}  // namespace baton
