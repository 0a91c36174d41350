#include <baton/chip.hpp>

#include <optional>

#include "base/fail.hpp"
#include "chip/completion/window_memory.hpp"
#include "chip/cores/profile.hpp"
#include "chip/runtime/chip_state.hpp"

namespace baton {

Chip::Chip(const ChipOptions& options)
    : state_(std::make_unique<chip::ChipState>(options, std::make_unique<chip::LocalMemory>(), std::nullopt)) {}
Chip::Chip(const ChipOptions& options, const Domain* me)
    : state_(std::make_unique<chip::ChipState>(
          options,
          chip::memory_of_rank(
              *me, chip::is_simulated(options.platform) ? chip::HostWindows::reached : chip::HostWindows::out_of_reach),
          me->rank())) {}
Chip::~Chip() = default;

Tensor Chip::alloc(DType dtype, std::initializer_list<std::int64_t> shape, std::string_view name) {
  return state_->alloc(dtype, {shape.begin(), shape.size()}, name);
}
void Chip::free(const Tensor& tensor) { state_->free(tensor); }
void Chip::add_memory(const Buffer& memory, std::string_view name, const MemoryPlace& place) {
  state_->add_memory(memory, name, place);
}
const std::string& Chip::platform() const noexcept { return state_->platform(); }
MemoryPlace Chip::memory_place() const noexcept { return state_->bytes().place(); }
void Chip::remove(const Tensor& external) { state_->remove(external); }
ChipWindow Chip::window(const Domain& domain, std::string_view name, std::size_t bytes) {
  return ChipWindow(state_->open_window(domain, name, bytes));
}
void Chip::run(const std::function<void(Graph&)>& orchestration, const GraphOptions& options, Place where) {
  state_->run(orchestration, options, where);
}
CapturedGraph Chip::capture(const std::function<void(Graph&)>& orchestration, const GraphOptions& options,
                            Place where) {
  return state_->capture(orchestration, options, where);
}
void Chip::run_captured(CapturedGraph& graph, std::span<const Binding> bindings) {
  state_->run(*graph.state_, bindings);
}
TaskProfile Chip::task_profile() const { return state_->task_profile(); }
int Chip::clusters() const noexcept { return state_->clusters(); }

namespace {

void check_copy(const char* what, const Tensor& tensor, DType dtype, std::size_t count) {
  if (tensor.dtype() != dtype || static_cast<std::size_t>(tensor.element_count()) != count) {
    fail(Code::invalid_argument, "{}: {} elements of {} do not fit {}", what, count, name_of(dtype), tensor.describe());
  }
  if (!tensor.is_contiguous()) {
    fail(Code::invalid_argument, "{}: {} has gaps; copy its parts, or a contiguous tensor", what, tensor.describe());
  }
}

}  // namespace

void Chip::copy_bytes_in(const Tensor& to, DType dtype, const void* from, std::size_t count) {
  check_copy("copy_in", to, dtype, count);
  state_->note_host_access(to, CheckedUse::write, "copy_in");
  state_->bytes().copy_in(to.address(), from, count * size_of(dtype));
}

void Chip::copy_bytes_out(const Tensor& from, DType dtype, void* to, std::size_t count) {
  check_copy("copy_out", from, dtype, count);
  state_->note_host_access(from, CheckedUse::read, "copy_out");
  state_->bytes().copy_out(to, from.address(), count * size_of(dtype));
}

}  // namespace baton
