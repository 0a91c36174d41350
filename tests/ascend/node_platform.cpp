// Nodes of Ascend chips, on the stand-in.
#include "node_platform.hpp"

#include <map>

#include <baton/kernel_source.hpp>

namespace baton::test {
namespace {

constexpr const char* kPlatform = "a2a3";
constexpr int kDevices = 8;  // of the stand-in

const LoadedKernel& compiled(const Kernel& linked) {
  static const KernelFile file = KernelFile::compile({.source = ASCEND_NODE_KERNELS "/node_kernels.cpp",
                                                      .platform = kPlatform,
                                                      .include_dirs = {ASCEND_NODE_KERNELS}});
  static std::map<std::string, LoadedKernel> kernels;
  auto found = kernels.find(linked.name);
  if (found == kernels.end()) found = kernels.emplace(linked.name, file.kernel(linked.name)).first;
  return found->second;
}

}  // namespace

std::string node_platform() { return kPlatform; }

/// Chips of one process cannot have windows together.
std::vector<NodeShape> possible(std::vector<NodeShape> shapes) {
  std::erase_if(shapes, [](const NodeShape& shape) {
    return shape.chips > kDevices || (shape.isolation == Isolation::inproc && shape.chips > 1);
  });
  return shapes;
}

Code refusal_of_kernels() { return Code::kernel_fault; }
/// The chip ends it, and tells no limit.
std::vector<std::string> words_of_a_late_kernel(const std::string& kernel, const std::string& /*limit*/) {
  return {"kernel '" + kernel + "'", "507034 (time limit of a vector core)"};
}

Callable on_chip(const Kernel& linked) {
  const LoadedKernel& kernel = compiled(linked);
  return Callable::in_library(kernel.library(), kernel.get());
}

const Kernel& loaded(const Kernel& linked) { return compiled(linked).get(); }

}  // namespace baton::test
