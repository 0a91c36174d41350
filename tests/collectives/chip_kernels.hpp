// Kernels of the tests of collectives on chips.
#pragma once

#include <cstdint>

#include <baton/kernel_handle.hpp>

extern "C" {
/// Tensors: x, y, room, signals, counts. Scalars: context, operation, element, operation on elements, root, algorithm,
/// elements of a block. Calls the function of that name in <collectives/collectives.hpp>.
void collectives_test_call(std::int64_t* args);
/// The same with one more tensor and one more scalar: how many waits there were so far, and the number of the one that
/// is left out; elements are float.
void collectives_test_call_without_a_wait(std::int64_t* args);
/// The same tensors. Scalars: context, the rank x goes to, element, the rank y comes from, elements; no rank: -1.
void collectives_test_message(std::int64_t* args);
}

namespace baton::test {

inline constexpr int kTensorsOfCall = 5;
inline constexpr Kernel kCallCollective = {"call_collective", collectives_test_call, nullptr, BATON_CORE_VECTOR, 0};

inline constexpr Kernel kCallWithoutAWait = {"call_without_a_wait", collectives_test_call_without_a_wait, nullptr,
                                             BATON_CORE_VECTOR, 0};

inline constexpr Kernel kPassMessage = {"pass_message", collectives_test_message, nullptr, BATON_CORE_VECTOR, 0};

/// Adds 1 to a signal of `peer`.
BATON_KERNEL_DECLARE(notify_peer, baton::InOut<std::int32_t> signal, const CommContext* context, std::int32_t peer);
/// y = x of the rank before; z = x of rank 0, which passes it on, and so do the others.
BATON_KERNEL_DECLARE(pass_on, baton::In<float> x, baton::Out<float> y, baton::Out<float> z, baton::InOut<float> room,
                     baton::InOut<std::int32_t> signals, const CommContext* context);
/// y = x.
BATON_KERNEL_DECLARE(copy_ints, baton::In<std::int32_t> x, baton::Out<std::int32_t> y);
/// y = x + 1.
BATON_KERNEL_DECLARE(increment, baton::In<float> x, baton::Out<float> y);

}  // namespace baton::test
