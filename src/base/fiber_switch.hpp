// What must be told, saved and restored when a thread changes from one stack to another.
#pragma once

#include <cxxabi.h>

#include <cstddef>
#include <cstring>

// gcc defines __SANITIZE_...; clang has __has_feature.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BATON_FIBER_ASAN 1
#elif __has_feature(thread_sanitizer)
#define BATON_FIBER_TSAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define BATON_FIBER_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define BATON_FIBER_TSAN 1
#endif
#if defined(BATON_FIBER_ASAN)
#include <sanitizer/common_interface_defs.h>
#elif defined(BATON_FIBER_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

#include "base/abandoned_frames.hpp"

namespace baton {

/// The side of a switch that belongs to one stack: what the sanitizers know of it, and the exceptions being handled on
/// it (the C++ runtime keeps those per thread, so a fiber that waits inside a catch block must take them along).
class StackIdentity {
 public:
  /// The stack the caller runs on: a thread's own.
  static StackIdentity of_thread() {
    StackIdentity identity;
    identity.thread_exceptions_ = abi::__cxa_get_globals();
#if defined(BATON_FIBER_TSAN)
    identity.tsan_fiber_ = __tsan_get_current_fiber();
#endif
    return identity;
  }

  /// A new stack of `bytes` from `bottom` up.
  static StackIdentity of_stack(const void* bottom, std::size_t bytes) {
    StackIdentity identity;
    identity.bottom_ = bottom;
    identity.bytes_ = bytes;
    // The memory may have been another stack, whose last frames never returned.
    forget_frames(bottom, static_cast<const char*>(bottom) + bytes);
#if defined(BATON_FIBER_TSAN)
    identity.tsan_fiber_ = __tsan_create_fiber(0);
#endif
    return identity;
  }

  /// Before the memory of a stack that was made by of_stack() is given back.
  void destroy() {
    // Its last frames never return, and others may get the addresses.
    forget_frames(bottom_, static_cast<const char*>(bottom_) + bytes_);
#if defined(BATON_FIBER_TSAN)
    __tsan_destroy_fiber(tsan_fiber_);
#endif
  }

  /// Immediately before the switch from this stack to `next`.
  void before_leaving_to(const StackIdentity& next) {
    std::memcpy(exceptions_, exceptions_of_thread(next), sizeof exceptions_);
#if defined(BATON_FIBER_ASAN)
    __sanitizer_start_switch_fiber(&fake_stack_, next.bottom_, next.bytes_);
#endif
#if defined(BATON_FIBER_TSAN)
    __tsan_switch_to_fiber(next.tsan_fiber_, 0);
#endif
  }

  /// As before_leaving_to(), for a stack that will not be entered again.
  void before_last_leaving_to([[maybe_unused]] const StackIdentity& next) {
#if defined(BATON_FIBER_ASAN)
    __sanitizer_start_switch_fiber(nullptr, next.bottom_, next.bytes_);
#endif
#if defined(BATON_FIBER_TSAN)
    __tsan_switch_to_fiber(next.tsan_fiber_, 0);
#endif
  }

  /// Immediately after arriving on this stack; `from` is the stack it was entered from.
  void after_arriving(StackIdentity& from) {
#if defined(BATON_FIBER_ASAN)
    __sanitizer_finish_switch_fiber(fake_stack_, from.bottom_ == nullptr ? &from.bottom_ : nullptr,
                                    from.bytes_ == 0 ? &from.bytes_ : nullptr);
#endif
    std::memcpy(exceptions_of_thread(from), exceptions_, sizeof exceptions_);
  }

 private:
  StackIdentity() = default;
  /// Of two stacks between which a switch goes, one is a thread's: a fiber may leave one thread and arrive on another.
  [[nodiscard]] void* exceptions_of_thread(const StackIdentity& other) const noexcept {
    return thread_exceptions_ != nullptr ? thread_exceptions_ : other.thread_exceptions_;
  }

  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
#if defined(BATON_FIBER_ASAN)
  void* fake_stack_ = nullptr;
#endif
#if defined(BATON_FIBER_TSAN)
  void* tsan_fiber_ = nullptr;
#endif
  void* thread_exceptions_ = nullptr;  // where the C++ runtime keeps those of this thread; null for a fiber's stack
  // Layout of the Itanium C++ ABI's __cxa_eh_globals: a pointer and an unsigned int.
  unsigned char exceptions_[2 * sizeof(void*)] = {};
};

}  // namespace baton
