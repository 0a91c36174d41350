// Kernels and chip orchestrations of the tests of nodes.
#pragma once

#include <cstdint>

#include <baton/kernel_handle.hpp>
#include <baton/task_args.hpp>

namespace baton::test {

/// y = 2 x.
BATON_KERNEL_DECLARE(node_twice, baton::In<float> x, baton::Out<float> y);
/// y += k.
BATON_KERNEL_DECLARE(node_add, baton::InOut<float> y, float k);
/// Fails with an error.
BATON_KERNEL_DECLARE(node_refuse, baton::InOut<float> y);
/// out[0] = sum over the domain of (100 * rank + value): every rank writes its value into all windows, notifies, waits.
/// `cells` and `arrived` lie in the windows of `context`; `round` counts from 1.
BATON_KERNEL_DECLARE(node_sum, baton::InOut<std::int64_t> cells, baton::InOut<std::int32_t> arrived,
                     baton::Out<std::int64_t> out, std::uint64_t context, std::int64_t value, std::int32_t round);
/// out[index] = value, `late` milliseconds after it began.
BATON_KERNEL_DECLARE(node_set, baton::InOut<std::int64_t> out, std::int64_t index, std::int64_t value,
                     std::int64_t late);
/// `late` milliseconds after it began: `data` of `peer` = value, then notifies `arrived` of `peer`. Both lie in the
/// windows of `context`.
BATON_KERNEL_DECLARE(node_tell, baton::InOut<std::int64_t> data, baton::InOut<std::int32_t> arrived,
                     std::uint64_t context, std::uint32_t peer, std::int64_t value, std::int64_t late);
/// out = data + 1.
BATON_KERNEL_DECLARE(node_next, baton::In<std::int64_t> data, baton::Out<std::int64_t> out);
/// The same of a task that takes a token among its arguments.
BATON_KERNEL_DECLARE(node_next_after, baton::In<std::int32_t> token, baton::In<std::int64_t> data,
                     baton::Out<std::int64_t> out);
/// Waits until the signal, in a window, is at least `expected`.
BATON_KERNEL_DECLARE(node_await, baton::InOut<std::int32_t> signal, std::int32_t expected);
/// Computes until y[0] is 1, and calls nobody meanwhile.
BATON_KERNEL_DECLARE(node_spin, baton::InOut<float> y);
/// A failed assertion, a trap, an exception of type int.
BATON_KERNEL_DECLARE(node_assert, baton::InOut<float> y);
BATON_KERNEL_DECLARE(node_trap, baton::InOut<float> y);
BATON_KERNEL_DECLARE(node_throw, baton::InOut<float> y);
/// Kills its process.
BATON_KERNEL_DECLARE(node_die, baton::InOut<float> y);

/// y = 4 x + k on a chip: two kernels with an edge between them. Tensors x, y; scalar k.
void four_times_plus(Graph& graph, const ChipArgs& args);
/// Tensors token, data, out: hands all of them to node_next_after.
void next_after(Graph& graph, const ChipArgs& args);
/// Nothing.
void nothing(Graph& graph, const ChipArgs& args);

}  // namespace baton::test
