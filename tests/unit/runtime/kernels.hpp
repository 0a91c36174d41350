// Kernels of these tests.
#pragma once

#include <cstdint>

#include <baton/kernel_handle.hpp>

namespace baton::test {

/// y = 2 x.
BATON_KERNEL_DECLARE(twice, baton::In<float> x, baton::Out<float> y);
/// y += 1.
BATON_KERNEL_DECLARE(add_one, baton::InOut<float> y);
/// Every element of y becomes its old value * 31 + the sum of all elements of a and b + k. Gives its thread away
/// between reading and writing, which shows a missing wait.
BATON_KERNEL_DECLARE(mix, baton::In<std::int64_t> a, baton::In<std::int64_t> b, baton::InOut<std::int64_t> y,
                     std::int64_t k);
/// The same without the old value of y.
BATON_KERNEL_DECLARE(renew, baton::In<std::int64_t> a, baton::Out<std::int64_t> y, std::int64_t k);
/// Appends its number to the list: list[0] is the count.
BATON_KERNEL_DECLARE(append, baton::InOut<std::int64_t> list, std::int64_t number);
/// Fails with an error.
BATON_KERNEL_DECLARE(refuse, baton::InOut<float> y);
/// Writes to address 8.
BATON_KERNEL_DECLARE(crash, baton::InOut<float> y);
/// Notifies a signal.
BATON_KERNEL_DECLARE(notify, baton::InOut<std::int32_t> signal, std::int32_t value);
/// Cube core: y[0] = 1 and waits until both vector cores have set y[1] and y[2].
BATON_KERNEL_DECLARE(cube_part, baton::InOut<std::int32_t> y);
BATON_KERNEL_DECLARE(vector_part, baton::InOut<std::int32_t> y);

}  // namespace baton::test

extern "C" {
/// y[block] = blocks * 1000 + block.
void runtime_test_number_blocks(std::int64_t* args);
/// All blocks meet: each notifies the signal and waits until all have.
void runtime_test_meet(std::int64_t* args);
/// (x, y, flag): y = 2 x, complete when the flag is 1; somebody else sets it.
void runtime_test_twice_later(std::int64_t* args);
/// (y, flag, value): returns when the flag has that value at least.
void runtime_test_await(std::int64_t* args);
}

namespace baton::test {

inline constexpr Kernel kNumberBlocks = {"number_blocks", runtime_test_number_blocks, nullptr, BATON_CORE_VECTOR, 0};
inline constexpr Kernel kMeet = {"meet", runtime_test_meet, nullptr, BATON_CORE_VECTOR, 0};
inline constexpr Kernel kAwait = {"await", runtime_test_await, nullptr, BATON_CORE_VECTOR, 0};
inline constexpr Kernel kTwiceLater = {"twice_later", runtime_test_twice_later, nullptr, BATON_CORE_VECTOR, 0};

}  // namespace baton::test
