// Nodes of several sizes, with chips in processes and in this one.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <baton/worker.hpp>

#include "node_platform.hpp"

namespace baton::test {

/// Small chips: what is tested is the node. Of the platform that the program is linked for.
[[nodiscard]] inline WorkerOptions node_options(const NodeShape& shape) {
  WorkerOptions options;
  options.platform = node_platform();
  options.devices.resize(static_cast<std::size_t>(shape.chips));
  std::iota(options.devices.begin(), options.devices.end(), 0);
  options.isolation = shape.isolation;
  options.clusters = options.platform.ends_with("sim") ? 1 : 0;
  options.output_heap_bytes = 1 << 20;
  return options;
}

[[nodiscard]] inline std::string name_of(const NodeShape& shape) {
  return (shape.isolation == Isolation::inproc ? "Inproc" : "Processes") + std::to_string(shape.chips);
}

class Node : public testing::TestWithParam<NodeShape> {
 protected:
  [[nodiscard]] static int chips() { return GetParam().chips; }
  [[nodiscard]] static std::vector<int> all_chips() {
    std::vector<int> all(static_cast<std::size_t>(chips()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  Worker worker{node_options(GetParam())};
};

[[nodiscard]] inline float* floats(const Tensor& tensor) { return reinterpret_cast<float*>(tensor.address()); }

}  // namespace baton::test
