// Tensors of a graph in files: tasks where tasks may be host code, at once where they may not.
#include <vector>

#include <tensor.h>

#include "base/fail.hpp"
#include "chip/graph/chip_tensor.hpp"
#include "chip/runtime/graph_state.hpp"

namespace baton::chip {

TaskId GraphState::dump(const Tensor& tensor, std::string_view name, std::span<const TaskId> after,
                        const Place& where) {
  if (tensor.buffer().space == MemorySpace::token) fail(Code::invalid_argument, "dump: a token has no elements");
  if (scheduler_ == nullptr) {
    if (dumps()) dump_now(tensor, parts_.dumps.keep_name(name));
    return newest();
  }
  TaskOptions options;
  options.after.assign(after.begin(), after.end());
  std::vector<Argument> arguments = {Argument(Access::in, tensor)};
  if (!dumps()) return submit({.arguments = arguments, .options = options, .where = where});
  const std::string& kept = parts_.dumps.keep_name(name);
  arguments.emplace_back(reinterpret_cast<std::int64_t>(&parts_.dumps));
  arguments.emplace_back(reinterpret_cast<std::int64_t>(&kept));
  arguments.emplace_back(next_dump());
  return submit({.entry = dump_kernel,
                 .name = "dump",
                 .cores = Cores::vector,
                 .arguments = arguments,
                 .options = options,
                 .where = where});
}

void GraphState::dump_now(const Tensor& tensor, const std::string& name) {
  if (capture_ != nullptr) {
    fail(Code::unsupported, "dump: this platform runs captured graphs without the host; dump in Chip::run()");
  }
  run_batch();
  const ChipTensor descriptor = graph::to_chip_tensor(tensor);
  std::vector<std::byte> elements(descriptor.extent_elem_cache * size_of(tensor.dtype()));
  parts_.device->memory()->copy_out(elements.data(), tensor.address(), elements.size());
  parts_.dumps.write(descriptor, elements.data(), name, next_dump());
}

}  // namespace baton::chip
