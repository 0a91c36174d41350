#include "chip/graph/view.hpp"

namespace baton::graph {
namespace {

/// Makes dimensions that leave no gap one, from the innermost (last) on, and those that continue the run part of it.
void merge(View& view) noexcept {
  while (view.dims > 0 && view.dim[view.dims - 1].stride <= view.run) {
    const ViewDim& inner = view.dim[--view.dims];
    view.run += (inner.extent - 1) * inner.stride;
  }
  if (view.dims < 2) return;
  std::uint32_t kept = view.dims - 1;
  for (std::uint32_t i = view.dims - 1; i-- > 0;) {
    const ViewDim outer = view.dim[i];
    ViewDim& inner = view.dim[kept];
    if (outer.stride <= inner.stride * inner.extent && outer.stride % inner.stride == 0) {
      inner.extent += (outer.extent - 1) * (outer.stride / inner.stride);
    } else {
      view.dim[--kept] = outer;
    }
  }
  if (kept == 0) return;
  for (std::uint32_t i = kept; i < view.dims; ++i) view.dim[i - kept] = view.dim[i];
  view.dims -= kept;
}

}  // namespace

View detail::general_view_of(const Tensor& tensor) noexcept {
  const std::uint64_t element = size_of(tensor.dtype());
  const auto shape = tensor.shape();
  const auto strides = tensor.strides();
  View view;
  view.start = tensor.address();
  view.run = element;
  view.space = tensor.buffer().space;
  view.buffer_begin = tensor.buffer().address;
  view.buffer_end = view.buffer_begin + tensor.buffer().bytes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto extent = static_cast<std::uint64_t>(shape[i]);
    std::int64_t stride = strides[i];
    // All elements of a dimension of stride 0 are the same bytes.
    if (extent == 1 || stride == 0) continue;
    if (stride < 0) {
      stride = -stride;
      view.start -= (extent - 1) * static_cast<std::uint64_t>(stride) * element;
    }
    const ViewDim dim{extent, static_cast<std::uint64_t>(stride) * element};
    std::uint32_t at = view.dims++;
    for (; at > 0 && view.dim[at - 1].stride < dim.stride; --at) view.dim[at] = view.dim[at - 1];
    view.dim[at] = dim;
  }
  merge(view);
  return view;
}

}  // namespace baton::graph
