// A stack of its own for each thread of a scenario; all of them run on one operating-system thread.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <memory>
#include <new>

#include "base/fiber_switch.hpp"

namespace baton::model {

/// Runs a function that can be left in the middle and entered again, or left for good: frames that are left for good
/// are forgotten without unwinding, because production code may be noexcept.
class Stack {
 public:
  Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  ~Stack();

  /// Forgets what ran here and prepares `body(argument)`; enter() runs it.
  void begin(void (*body)(void*), void* argument);

  /// Runs the body until it calls leave() or ends. Called from the thread's own stack.
  void enter();

  /// Called by the body: back to the caller of enter().
  void leave();

  [[nodiscard]] bool ended() const noexcept { return ended_; }

 private:
  static constexpr std::size_t kBytes = 256 * 1024;

  void run();

  std::unique_ptr<std::byte[]> bytes_;
  StackIdentity outside_;
  StackIdentity inside_;
  // Fibers on both sides of the switch, in storage whose destructors never run: a forgotten frame is not unwound.
  alignas(boost::context::fiber) std::byte body_storage_[sizeof(boost::context::fiber)];
  alignas(boost::context::fiber) std::byte caller_storage_[sizeof(boost::context::fiber)];
  boost::context::fiber* body_fiber_ = nullptr;
  boost::context::fiber* caller_fiber_ = nullptr;
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool ended_ = true;
};

}  // namespace baton::model
