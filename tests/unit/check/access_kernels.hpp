// Kernels that touch eight numbers of global memory, each with one instruction.
#pragma once

#include <array>
#include <cstdint>

#include <baton/kernel_handle.hpp>

namespace baton::test {

/// How many numbers an access touches.
inline constexpr std::int64_t kNumbers = 8;

enum class Instruction : std::int32_t {
  load,
  store,
  add,
  put_there,
  put_from_there,
  put_adding,
  get_there,
  get_from_there,
  put_async_there,
  put_async_from_there,
  get_async_there,
  get_async_from_there,
};
inline constexpr std::int32_t kInstructions = 12;

/// Waits until `*await` is 1, if that is not 0; makes the access; adds 1 to `*notify`, if that is not 0. `elsewhere` is
/// memory that nobody else uses.
BATON_KERNEL_DECLARE(touch_there, std::int32_t instruction, std::uint64_t there, std::uint64_t elsewhere,
                     std::uint64_t await, std::uint64_t notify);
/// The same with a tensor that orders tasks.
BATON_KERNEL_DECLARE(touch_and_name, baton::InOut<std::int32_t> named, std::int32_t instruction, std::uint64_t there,
                     std::uint64_t elsewhere);
/// The same with the tensor that is touched.
BATON_KERNEL_DECLARE(touch_tensor, baton::InOut<float> there, std::int32_t instruction);
/// The same of a task that names more than it touches.
BATON_KERNEL_DECLARE(touch_tensor_of, baton::InOut<float> there, std::int32_t instruction, baton::InOut<float> all);
/// Puts to `there`, and leaves the rest to the engine: the signal is notified, and the task complete, when it is done.
BATON_KERNEL_DECLARE(put_and_return, std::uint64_t there, std::uint64_t elsewhere, std::uint64_t notify);
/// Complete when `*await` is 1.
BATON_KERNEL_DECLARE(complete_later, std::uint64_t await);
/// Through a pointer.
BATON_KERNEL_DECLARE(store_at, baton::InOut<float> y, std::int64_t index);
/// Loads rows of a matrix of eight columns: `rows` of them, from number `first` on, each of `columns` numbers.
BATON_KERNEL_DECLARE(load_rows, std::uint64_t there, std::int32_t rows, std::int32_t columns);
BATON_KERNEL_DECLARE(store_rows, std::uint64_t there, std::int32_t rows, std::int32_t columns);

}  // namespace baton::test
