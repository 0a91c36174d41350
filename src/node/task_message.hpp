// A task on its way to a chip.
#pragma once

#include <cstdint>

#include <baton/task_args.hpp>

#include "base/checked_event.hpp"
#include "node/message.hpp"

namespace baton::node {

/// Buffers with this bit are the windows of a domain; the rest is its number.
inline constexpr std::uint64_t kDomainBuffer = std::uint64_t{1} << 63U;

/// Stands for the memory of a token, which has none: only its address means something.
inline constexpr std::uint64_t kTokenBuffer = std::uint64_t{1} << 62U;

/// Buffers with this bit are libraries, which no task takes.
inline constexpr std::uint64_t kLibraryBuffer = std::uint64_t{1} << 61U;

/// In tensors of the node: the domain above this many bits, the rank below.
inline constexpr std::uint64_t kDomainRankBits = 16;
inline constexpr std::uint64_t kDomainRankMask = (std::uint64_t{1} << kDomainRankBits) - 1;

/// What a copy to or from a window of a chip hands over, for `baton check`. Copies have numbers that nobody else has.
enum class CopyMoment : std::uint8_t { asked, made };
[[nodiscard]] constexpr std::uint64_t copy_token(std::uint64_t copy, CopyMoment moment) noexcept {
  return mix(copy, static_cast<std::uint64_t>(moment));
}

/// What stands at the front of MessageKind::run.
struct TaskWire {
  std::uint64_t run;
  std::uint64_t task;   // of the node; for events, like the next
  std::uint64_t tasks;  // whose task it is: CheckedTasks
  std::uint32_t callable;
  std::uint32_t args;
  std::uint32_t tensors;
  std::uint32_t blocks;
  std::int32_t priority;
  std::uint32_t start_together;
};

/// Memory of a tensor: bytes [begin, begin + bytes) of a buffer.
struct MemoryWire {
  std::uint64_t buffer;
  std::uint64_t begin;
  std::uint64_t bytes;
};

struct ArgWire {
  std::uint8_t is_tensor;
  std::uint8_t type;   // TensorArgType
  std::uint8_t dtype;  // DType
  std::uint8_t dims;
  std::uint32_t zero;
  std::int64_t value;  // of a scalar; the offset of a tensor
};

/// Of a callable that lives in a file.
enum class CallableWire : std::uint32_t {
  linked_kernel,
  library_kernel,
  orchestration,
  library_orchestration,
  program
};

inline void put_scalar(MessageWriter& writer, std::int64_t slot) { writer.put(ArgWire{0, 0, 0, 0, 0, slot}); }

inline void put_tensor(MessageWriter& writer, const Tensor& tensor, TensorArgType type, const MemoryWire& memory) {
  const auto dims = static_cast<std::uint8_t>(tensor.dims());
  writer.put(
      ArgWire{1, static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(tensor.dtype()), dims, 0, tensor.offset()});
  writer.put(memory);
  for (const std::int64_t extent : tensor.shape()) writer.put(extent);
  for (const std::int64_t stride : tensor.strides()) writer.put(stride);
}

}  // namespace baton::node
