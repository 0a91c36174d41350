// Memory of a graph, as its orchestration sees it: outputs, and single elements that it reads and writes.
#include "chip/runtime/graph_state.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/fail.hpp"
#include "chip/runtime/fill.hpp"

namespace baton::chip {

Tensor GraphState::output(DType dtype, std::span<const std::int64_t> shape, const Place& where) {
  std::uint64_t bytes = size_of(dtype);
  for (const std::int64_t extent : shape) {
    if (extent <= 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) {
      fail(Code::invalid_argument, "an output with an extent of {} at {}:{} is not possible", extent, where.file,
           where.line);
    }
  }
  // Its producer is the next task.
  while (true) {
    if (const auto buffer = parts_.heap.try_allocate(bytes, newest() + 1)) {
      if (parts_.profiler != nullptr) {
        std::uint64_t& most = parts_.profiler->high_water.output_bytes;
        most = std::max(most, parts_.heap.bytes_in_use());
      }
      if (capture_ != nullptr) capture_->add_output(*buffer);
      if (is_checked()) {
        parts_.memory.note_fresh(reinterpret_cast<const void*>(buffer->address), buffer->bytes);
      }
      return Tensor(*buffer, dtype, shape);
    }
    if (capture_ != nullptr) {
      fail(Situation::output_heap_full,
           "an output of {} bytes does not fit beside the {} bytes of the captured graph's others", bytes,
           parts_.heap.bytes_in_use());
    }
    const TaskId last = parts_.heap.must_complete();
    if (parts_.batch != nullptr) {
      run_batch();
      continue;
    }
    while (scheduler_->oldest_incomplete() <= last) {
      // Throws if it failed: a failed task stays the oldest until the run ends.
      scheduler_->wait(scheduler_->oldest_incomplete());
    }
    parts_.heap.forget_before(scheduler_->oldest_incomplete());
  }
}

Tensor GraphState::filled_output(DType dtype, std::span<const std::int64_t> shape, const void* value,
                                 const Place& where) {
  const Tensor made = output(dtype, shape, where);
  ElementBytes element{};
  std::memcpy(element.data(), value, size_of(dtype));
  fill(made, element);
  return made;
}

void GraphState::fill(const Tensor& output, const ElementBytes& value) {
  if (capture_ != nullptr) return capture_->fill_before_runs(output, value);
  // The tasks that used these bytes before are complete.
  fill_elements(*parts_.device->memory(), output, value);
}

Tensor GraphState::element(const Tensor& tensor, DType dtype, std::span<const std::int64_t> position) const {
  if (tensor.dtype() != dtype) {
    fail(Code::invalid_argument, "an element of {} was asked for as {}", tensor.describe(), name_of(dtype));
  }
  if (static_cast<int>(position.size()) != tensor.dims()) {
    fail(Situation::tensor_shape, "{} numbers name no element of {}", position.size(), tensor.describe());
  }
  Tensor at = tensor;
  for (std::size_t dim = 0; dim < position.size(); ++dim) {
    at = at.slice_dim(static_cast<int>(dim), position[dim], position[dim] + 1);
  }
  return at;
}

void GraphState::wait_for(const Tensor& tensor, graph::Use access, const char* action) {
  if (tensor.buffer().id != 0) parts_.heap.use(tensor.buffer(), 0);
  std::vector<TaskId> earlier;
  const auto live = [&](TaskId id) {
    if (collects()) return id > collected_from();
    return is_checked() || scheduler_->live(id);
  };
  parts_.map.query(graph::view_of(tensor), access, live, [&](TaskId id) { earlier.push_back(id); });
  if (capture_ != nullptr && (!earlier.empty() || tensor.buffer().id != 0)) {
    fail(
        Code::invalid_argument,
        "{} of {}: tasks of the graph that is being captured use it, and nothing runs meanwhile; do it before or after "
        "Chip::run()",
        action, tensor.describe());
  }
  for (const TaskId id : earlier) wait(id);
}

void GraphState::note_host_access(const Tensor& element, CheckedUse use, const char* operation) const {
  if (!is_checked()) return;
  parts_.memory.note_touch(reinterpret_cast<const void*>(element.address()), {.row_bytes = size_of(element.dtype())},
                           use, operation, {});
}

void GraphState::get_element(const Tensor& tensor, DType dtype, std::span<const std::int64_t> position, void* into) {
  const Tensor at = element(tensor, dtype, position);
  wait_for(at, graph::Use::read, "get");
  note_host_access(at, CheckedUse::read, "get");
  parts_.device->memory()->copy_out(into, at.address(), size_of(dtype));
}

void GraphState::set_element(const Tensor& tensor, DType dtype, std::span<const std::int64_t> position,
                             const void* from) {
  const Tensor at = element(tensor, dtype, position);
  wait_for(at, graph::Use::write, "set");
  note_host_access(at, CheckedUse::write, "set");
  parts_.device->memory()->copy_in(at.address(), from, size_of(dtype));
  // It may be what a deferred task waits for.
  parts_.memory.tell_change(reinterpret_cast<const void*>(at.address()));
}

}  // namespace baton::chip
