// Signals: 32-bit counters in windows. TNOTIFY changes them, TWAIT blocks on them, TTEST asks once.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/comm/enums.hpp>
#include <pto/common/global_tensor.hpp>
#include <pto/instructions/global_access.hpp>

namespace pto::comm {

using Signal = GlobalTensor<int32_t, Shape<1, 1, 1, 1, 1>, Stride<1, 1, 1, 1, 1>>;

/// Rows x Cols signals; rows are `ld` elements apart.
template <int Rows, int Cols>
class Signal2D : public GlobalTensor<int32_t, Shape<1, 1, 1, Rows, Cols>, Stride<1, 1, 1, DYNAMIC, 1>> {
  using Base = GlobalTensor<int32_t, Shape<1, 1, 1, Rows, Cols>, Stride<1, 1, 1, DYNAMIC, 1>>;

 public:
  Signal2D() = default;
  AICORE Signal2D(int32_t* data, int64_t ld = Cols)  // NOLINT(google-explicit-constructor)
      : Base(data, Shape<1, 1, 1, Rows, Cols>(), Stride<1, 1, 1, DYNAMIC, 1>(ld)) {}
};

}  // namespace pto::comm

namespace baton::kernel {

PTO_ONCE PTO_SHARED AICORE void check_signal_view(const BatonPlace& place, const GlobalView& signal) {
  if (!kChecks) return;
  check_extents(place, signal.extents);
  const auto address = reinterpret_cast<uintptr_t>(signal.data);
  if (address % sizeof(int32_t) != 0) {
    fail(place, BATON_KERNEL_MISALIGNED, "the signal's address ", address, " is not a multiple of 4");
  }
  check_access(place, "signal", signal);
}

/// A signal, or several: 4-byte aligned, in a tensor or window of the kernel.
template <typename SignalData>
PTO_INLINE AICORE Extents check_signal(const BatonPlace& place, const SignalData& signal) {
  static_assert(std::is_same_v<typename SignalData::RawDType, int32_t>, "a signal has elements of type int32_t");
  const GlobalView view = view_of(signal);
  check_signal_view(place, view);
  return view.extents;
}

template <typename Body>
AICORE void for_each_element(const Extents& extents, Body body) {
  for_each_plane(pto::Layout::ND, extents, [&](int64_t offset, int64_t, int64_t) {
    for (int64_t row = 0; row < extents.shape[3]; ++row) {
      for (int64_t i = 0; i < extents.shape[4]; ++i) body(offset + row * extents.stride[3] + i * extents.stride[4]);
    }
  });
}

AICORE inline void notify(const BatonPlace& place, int32_t* signal, int32_t value, pto::comm::NotifyOp op) {
  PTO_INSTRUCTION_BOUNDARY();
  BatonCore& core = current_core();
  core.table->notify(&core, signal, value, static_cast<uint32_t>(op), &place);
}

template <typename SignalData>
AICORE bool test_all(const BatonPlace& place, const SignalData& signal, const Extents& extents, int32_t value,
                     pto::comm::WaitCmp comparison) {
  BatonCore& core = current_core();
  bool all = true;
  for_each_element(extents, [&](int64_t offset) {
    all = all && core.table->test(&core, signal.data() + offset, value, static_cast<uint32_t>(comparison), &place) != 0;
  });
  return all;
}

}  // namespace baton::kernel

namespace pto::comm {

/// Publishes what was drained to the scalar pipe before it; drains nothing itself.
template <typename SignalData>
AICORE void TNOTIFY(const SignalData& signal, int32_t value, NotifyOp op,
                    baton::kernel::Where where = baton::kernel::Where::current()) {
  const BatonPlace place = baton::kernel::place_of("TNOTIFY", where);
  const baton::kernel::Extents extents = baton::kernel::check_signal(place, signal);
  baton::kernel::for_each_element(
      extents, [&](int64_t offset) { baton::kernel::notify(place, signal.data() + offset, value, op); });
}

/// Blocks until every element compares so. An acquire.
template <typename SignalData>
AICORE void TWAIT(const SignalData& signal, int32_t value, WaitCmp comparison,
                  baton::kernel::Where where = baton::kernel::Where::current()) {
  const BatonPlace place = baton::kernel::place_of("TWAIT", where);
  const baton::kernel::Extents extents = baton::kernel::check_signal(place, signal);
  PTO_INSTRUCTION_BOUNDARY();
  BatonCore& core = baton::kernel::current_core();
  // One after the other; what held may have ceased to hold when the last one does.
  do {
    baton::kernel::for_each_element(extents, [&](int64_t offset) {
      core.table->wait(&core, signal.data() + offset, value, static_cast<uint32_t>(comparison), &place);
    });
  } while (extents.shape[3] * extents.shape[4] > 1 &&
           !baton::kernel::test_all(place, signal, extents, value, comparison));
}

/// Whether every element compares so now. An acquire if it does.
template <typename SignalData>
AICORE bool TTEST(const SignalData& signal, int32_t value, WaitCmp comparison,
                  baton::kernel::Where where = baton::kernel::Where::current()) {
  const BatonPlace place = baton::kernel::place_of("TTEST", where);
  const baton::kernel::Extents extents = baton::kernel::check_signal(place, signal);
  PTO_INSTRUCTION_BOUNDARY();
  return baton::kernel::test_all(place, signal, extents, value, comparison);
}

}  // namespace pto::comm
