#include "stack.hpp"

#include <utility>

#if defined(BATON_FIBER_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace baton::model {
namespace {

/// The stack's memory belongs to Stack, not to the fiber.
struct BorrowedMemory {
  using traits_type = boost::context::stack_traits;
  boost::context::stack_context allocate() { return {}; }
  void deallocate(boost::context::stack_context&) noexcept {}
};

}  // namespace

Stack::Stack()
    : bytes_(new std::byte[kBytes]),
      outside_(StackIdentity::of_thread()),
      inside_(StackIdentity::of_stack(bytes_.get(), kBytes)) {}

Stack::~Stack() { inside_.destroy(); }

void Stack::begin(void (*body)(void*), void* argument) {
  body_ = body;
  argument_ = argument;
  // A fiber whose body ended waits at the end of run()'s loop and takes the next body.
  if (body_fiber_ == nullptr || !ended_) {
#if defined(BATON_FIBER_ASAN)
    ASAN_UNPOISON_MEMORY_REGION(bytes_.get(), kBytes);
#endif
    inside_.destroy();
    inside_ = StackIdentity::of_stack(bytes_.get(), kBytes);
    boost::context::stack_context context;
    context.sp = bytes_.get() + kBytes;
    context.size = kBytes;
    const boost::context::preallocated memory(context.sp, context.size, context);
    body_fiber_ = new (body_storage_)
        boost::context::fiber(std::allocator_arg, memory, BorrowedMemory{}, [this](boost::context::fiber&& caller) {
          caller_fiber_ = new (caller_storage_) boost::context::fiber(std::move(caller));
          run();
          return std::move(*caller_fiber_);
        });
  }
  ended_ = false;
}

void Stack::enter() {
  outside_.before_leaving_to(inside_);
  boost::context::fiber back = std::move(*body_fiber_).resume();
  outside_.after_arriving(inside_);
  body_fiber_ = new (body_storage_) boost::context::fiber(std::move(back));
}

void Stack::leave() {
  inside_.before_leaving_to(outside_);
  boost::context::fiber back = std::move(*caller_fiber_).resume();
  inside_.after_arriving(outside_);
  caller_fiber_ = new (caller_storage_) boost::context::fiber(std::move(back));
}

void Stack::run() {
  inside_.after_arriving(outside_);
  while (true) {
    body_(argument_);
    ended_ = true;
    leave();
  }
}

}  // namespace baton::model
