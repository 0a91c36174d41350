#include "random_tensor.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <baton/error.hpp>

namespace baton::test {

std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

namespace {

int pick_dim(Random& random, const Tensor& tensor) { return static_cast<int>(pick(random, 0, tensor.dims() - 1)); }

Tensor change(Random& random, const Tensor& tensor) {
  const int dim = pick_dim(random, tensor);
  const std::int64_t extent = tensor.extent(dim);
  switch (pick(random, 0, 7)) {
    case 0:
    case 1: {
      const std::int64_t begin = pick(random, 0, extent - 1);
      return tensor.slice_dim(dim, begin, pick(random, begin + 1, extent));
    }
    case 2: return tensor.slice_dim(dim, pick(random, 0, extent - 1), extent, pick(random, 1, 3));
    case 3: return tensor.transpose(dim, pick_dim(random, tensor));
    case 4: return tensor.reverse(dim);
    case 5: return tensor.dims() > 1 ? tensor.select(dim, pick(random, 0, extent - 1)) : tensor;
    case 6: return tensor.reshape({tensor.element_count()});
    default: return tensor.reinterpret(static_cast<DType>(pick(random, 0, kDTypeCount - 1)));
  }
}

}  // namespace

Tensor random_tensor(Random& random, const Buffer& buffer) {
  const auto dtype = static_cast<DType>(pick(random, 0, kDTypeCount - 1));
  const auto available = static_cast<std::int64_t>(buffer.bytes / size_of(dtype));
  std::vector<std::int64_t> shape(static_cast<std::size_t>(pick(random, 1, kMaxDims)), 1);
  std::int64_t count = 1;
  for (std::int64_t& extent : shape) {
    extent = pick(random, 1, std::min<std::int64_t>(available / count, &extent == &shape.back() ? available : 8));
    count *= extent;
  }
  std::shuffle(shape.begin(), shape.end(), random);
  Tensor tensor(buffer, dtype, Tensor::Extents(shape));
  if (pick(random, 0, 3) == 0) {
    // Free strides, as long as they stay inside; they may make the view overlap itself.
    std::vector<std::int64_t> strides(shape.size());
    std::int64_t reach = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const std::int64_t room = shape[i] == 1 ? 1 : (available - 1 - reach) / (shape[i] - 1);
      strides[i] = pick(random, 0, std::min<std::int64_t>(room, 40));
      reach += (shape[i] - 1) * strides[i];
    }
    tensor =
        Tensor(buffer, dtype, Tensor::Extents(shape), Tensor::Extents(strides), pick(random, 0, available - 1 - reach));
  }
  for (std::int64_t steps = pick(random, 0, 5); steps > 0; --steps) {
    try {
      tensor = change(random, tensor);
    } catch (const Error&) {
      // A reshape or a reinterpretation that these strides forbid.
    }
  }
  return tensor;
}

Tensor matrix_over(const Buffer& buffer, std::int64_t pitch) {
  return Tensor(buffer, DType::uint8, {static_cast<std::int64_t>(buffer.bytes) / pitch, pitch});
}

Tensor random_tile(Random& random, const Tensor& matrix) {
  Tensor tile = matrix;
  const std::int64_t side = std::int64_t{1} << pick(random, 0, 4);
  const bool aligned = pick(random, 0, 3) != 0;
  for (int dim = 0; dim < 2; ++dim) {
    const std::int64_t extent = matrix.extent(dim);
    if (pick(random, 0, 15) == 0) continue;  // all of it
    const std::int64_t begin = aligned ? pick(random, 0, (extent - 1) / side) * side : pick(random, 0, extent - 1);
    const std::int64_t length = aligned ? side : pick(random, 1, 12);
    tile = tile.slice_dim(dim, begin, std::min(begin + length, extent));
  }
  return tile;
}

void for_each_byte(const Tensor& tensor, const std::function<void(std::uint64_t)>& visit) {
  std::array<std::int64_t, kMaxDims> at{};
  while (true) {
    std::int64_t element = tensor.offset();
    for (std::size_t dim = 0; dim < tensor.shape().size(); ++dim) element += at[dim] * tensor.strides()[dim];
    const std::uint64_t size = size_of(tensor.dtype());
    const std::uint64_t address = tensor.buffer().address + static_cast<std::uint64_t>(element) * size;
    for (std::uint64_t byte = 0; byte < size; ++byte) visit(address + byte);
    std::size_t dim = 0;
    while (dim < tensor.shape().size() && ++at[dim] == tensor.shape()[dim]) at[dim++] = 0;
    if (dim == tensor.shape().size()) return;
  }
}

void for_each_byte(const graph::View& view, const std::function<void(std::uint64_t)>& visit) {
  std::array<std::uint64_t, kMaxDims> at{};
  while (true) {
    std::uint64_t address = view.start;
    for (std::uint32_t dim = 0; dim < view.dims; ++dim) address += at[dim] * view.dim[dim].stride;
    for (std::uint64_t byte = 0; byte < view.run; ++byte) visit(address + byte);
    std::uint32_t dim = 0;
    while (dim < view.dims && ++at[dim] == view.dim[dim].extent) at[dim++] = 0;
    if (dim == view.dims) return;
  }
}

namespace {

template <class Bytes>
std::vector<std::uint64_t> sorted_bytes(const Bytes& bytes) {
  std::vector<std::uint64_t> result;
  for_each_byte(bytes, [&](std::uint64_t address) { result.push_back(address); });
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

}  // namespace

std::vector<std::uint64_t> bytes_of(const Tensor& tensor) { return sorted_bytes(tensor); }
std::vector<std::uint64_t> bytes_of(const graph::View& view) { return sorted_bytes(view); }

}  // namespace baton::test
