#include "chip/graph/overlap.hpp"

namespace baton::graph {

// The distance between the two starts is split along the dimensions of `outer`, from the largest stride on. Where this
// succeeds for every dimension, inner is a box inside the box of outer.
bool covers(const View& outer, const View& inner) {
  if (inner.start < outer.start || inner.end() > outer.end()) return false;
  if (outer.dims == 0) return true;
  std::uint64_t distance = inner.start - outer.start;
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < outer.dims; ++i) {
    const ViewDim& dim = outer.dim[i];
    std::uint64_t extent = 1;
    if (next < inner.dims && inner.dim[next].stride == dim.stride) extent = inner.dim[next++].extent;
    const std::uint64_t position = distance / dim.stride;
    if (position + extent > dim.extent) return false;
    distance -= position * dim.stride;
  }
  if (next == inner.dims) return distance + inner.run <= outer.run;
  // What is left of inner must fit into one run of outer.
  std::uint64_t reach = inner.run;
  for (; next < inner.dims; ++next) reach += (inner.dim[next].extent - 1) * inner.dim[next].stride;
  return distance + reach <= outer.run;
}

}  // namespace baton::graph
