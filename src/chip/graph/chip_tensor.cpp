#include "chip/graph/chip_tensor.hpp"

#include <limits>

#include "base/fail.hpp"

namespace baton::graph {
namespace {

static_assert(static_cast<int>(DType::float32) == static_cast<int>(DataType::FLOAT32));
static_assert(static_cast<int>(DType::float16) == static_cast<int>(DataType::FLOAT16));
static_assert(static_cast<int>(DType::int32) == static_cast<int>(DataType::INT32));
static_assert(static_cast<int>(DType::int16) == static_cast<int>(DataType::INT16));
static_assert(static_cast<int>(DType::int8) == static_cast<int>(DataType::INT8));
static_assert(static_cast<int>(DType::uint8) == static_cast<int>(DataType::UINT8));
static_assert(static_cast<int>(DType::bfloat16) == static_cast<int>(DataType::BFLOAT16));
static_assert(static_cast<int>(DType::int64) == static_cast<int>(DataType::INT64));
static_assert(static_cast<int>(DType::uint64) == static_cast<int>(DataType::UINT64));
static_assert(static_cast<int>(DType::uint16) == static_cast<int>(DataType::UINT16));
static_assert(static_cast<int>(DType::uint32) == static_cast<int>(DataType::UINT32));
static_assert(static_cast<int>(DType::boolean) == static_cast<int>(DataType::BOOL));

std::uint32_t narrow(const baton::Tensor& tensor, std::int64_t value, const char* what, std::size_t dim) {
  if (value < 0 || value > std::numeric_limits<std::uint32_t>::max()) {
    fail(Code::out_of_range, "a kernel cannot take {}: {} {} of dimension {} is not in [0, 2^32)", tensor.describe(),
         what, value, dim);
  }
  return static_cast<std::uint32_t>(value);
}

}  // namespace

ChipTensor to_chip_tensor(const baton::Tensor& tensor, std::uint64_t owner_task) {
  ChipTensor chip{};
  chip.buffer = {tensor.buffer().address, tensor.buffer().bytes};
  chip.owner_task_id = {owner_task};
  if (tensor.buffer().space == MemorySpace::token) chip.address_space = kTokenSpace;
  chip.start_offset = static_cast<std::uint64_t>(tensor.offset());
  chip.dtype = static_cast<DataType>(tensor.dtype());
  chip.is_contiguous = tensor.is_contiguous() ? 1 : 0;
  const auto shape = tensor.shape();
  const auto strides = tensor.strides();
  std::uint64_t reach = 0;
  bool empty = false;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    chip.shapes[dim] = narrow(tensor, shape[dim], "extent", dim);
    // The stride of a single element is never used.
    chip.strides[dim] = shape[dim] == 1 ? 1 : narrow(tensor, strides[dim], "stride", dim);
    empty = empty || shape[dim] == 0;
    reach += std::uint64_t{chip.shapes[dim] - 1} * chip.strides[dim];
  }
  chip.ndims = static_cast<std::uint32_t>(shape.size());
  if (chip.ndims == 0) {
    chip.ndims = 1;
    chip.shapes[0] = 1;
    chip.strides[0] = 1;
  }
  chip.extent_elem_cache = empty ? 0 : reach + 1;
  return chip;
}

}  // namespace baton::graph
