// Sessions of asynchronous copies, and the events that say when they are complete.
#include <pto/target/qualifiers.hpp>
#ifndef PTO_COMM_ASYNC_COMMON_ASYNC_TYPES_HPP
#define PTO_COMM_ASYNC_COMMON_ASYNC_TYPES_HPP

#include <pto/comm/enums.hpp>
#include <pto/npu/comm/async/sdma/sdma_types.hpp>
#include <pto/target/fail.hpp>

namespace pto::comm {

/// An order of asynchronous copies: completion of one implies completion of all earlier ones. BuildAsyncSession makes
/// it.
struct AsyncSession {
  DmaEngine engine = DmaEngine::SDMA;
  bool valid = false;
  uint64_t id = 0;  // of the core
};

/// The completion of one asynchronous copy. `handle` is the address of a 64-bit record that becomes 1.
struct AsyncEvent {
  uint64_t handle = 0;
  DmaEngine engine = DmaEngine::SDMA;

  AsyncEvent() = default;
  AICORE AsyncEvent(uint64_t handle_of_copy, DmaEngine engine_of_copy)
      : handle(handle_of_copy), engine(engine_of_copy) {}

  AICORE bool valid() const { return handle != 0; }

  /// Blocks until the copy is complete. False if this is not an event of that session.
  AICORE bool Wait(const AsyncSession& session, baton::kernel::Where where = baton::kernel::Where::current()) const {
    if (!valid() || !session.valid) return false;
    const BatonPlace place = baton::kernel::place_of("AsyncEvent::Wait", where);
    BatonCore& core = baton::kernel::current_core();
    core.table->copy_wait(&core, session.id, handle, &place);
    return true;
  }

  /// Whether the copy is complete.
  AICORE bool Test(const AsyncSession& session, baton::kernel::Where where = baton::kernel::Where::current()) const {
    if (!valid() || !session.valid) return false;
    const BatonPlace place = baton::kernel::place_of("AsyncEvent::Test", where);
    BatonCore& core = baton::kernel::current_core();
    return core.table->copy_test(&core, session.id, handle, &place) != 0;
  }
};

}  // namespace pto::comm

#endif
