#include <baton/chip_worker.hpp>

#include <algorithm>
#include <charconv>
#include <memory>
#include <vector>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "platform/device.hpp"

namespace baton {

void* platform::Device::comm(const char* function) const {
  check_joined(function);
  return comm_;
}

platform::WorkerGroup& platform::Device::joined(const char* function) const {
  check_joined(function);
  return *group;
}

void platform::Device::check_joined(const char* function) const {
  if (has_comm()) return;
  fail(Code::invalid_argument, "{}: device {} is in no group; call comm_init() first", function, id_);
}

namespace {

BatonDeviceArgument argument_of(const Argument& argument) {
  BatonDeviceArgument out{};
  const Tensor* tensor = argument.tensor();
  if (tensor == nullptr) {
    out.access = BATON_ARGUMENT_SCALAR;
    out.address = static_cast<std::uint64_t>(argument.slot());
    return out;
  }
  switch (argument.access()) {
    case Access::in:
    case Access::no_dependency: out.access = BATON_ARGUMENT_IN; break;
    case Access::out: out.access = BATON_ARGUMENT_OUT; break;
    case Access::inout: out.access = BATON_ARGUMENT_INOUT; break;
  }
  out.dtype = static_cast<std::uint32_t>(tensor->dtype());
  out.dims = static_cast<std::uint32_t>(tensor->dims());
  out.address = tensor->buffer().address;
  out.bytes = tensor->buffer().bytes;
  out.offset = tensor->offset();
  for (int i = 0; i < tensor->dims(); ++i) {
    out.shape[i] = tensor->extent(i);
    out.strides[i] = tensor->stride(i);
  }
  return out;
}

void check_range(const char* what, const Buffer& memory, std::size_t offset, std::size_t bytes) {
  if (offset > memory.bytes || bytes > memory.bytes - offset) {
    fail(Code::out_of_range, "{}: {} bytes from offset {} are outside memory of {} bytes", what, bytes, offset,
         memory.bytes);
  }
}

/// The code at the end of a report, "[BATON-E020]": comm_init() returns none.
int code_in(std::string_view report) {
  constexpr std::string_view kMark = "[BATON-E";
  const std::size_t mark = report.rfind(kMark);
  int code = 0;
  if (mark != std::string_view::npos) {
    std::from_chars(report.data() + mark + kMark.size(), report.data() + report.size(), code);
  }
  return code != 0 ? code : static_cast<int>(Code::join_refused);
}

}  // namespace

ChipWorker::ChipWorker(const std::string& platform, int device_id)
    : device_(std::make_unique<platform::Device>(platform, device_id)) {}
ChipWorker::ChipWorker(ChipWorker&&) noexcept = default;
ChipWorker& ChipWorker::operator=(ChipWorker&&) noexcept = default;
ChipWorker::~ChipWorker() = default;

platform::Device& ChipWorker::device() const {
  if (!device_) fail(Code::released, "this worker was closed");
  return *device_;
}

const std::string& ChipWorker::library() const { return device().library().path(); }
int ChipWorker::device_id() const { return device().id(); }
bool ChipWorker::has(std::string_view function) const { return device().library().has(std::string(function).c_str()); }

MemoryPlace ChipWorker::memory_place() const { return device().library().memory_place(device().get()); }

Buffer ChipWorker::alloc(std::size_t bytes) {
  if (bytes == 0) fail(Code::invalid_argument, "an allocation of 0 bytes");
  platform::Device& device = this->device();
  Buffer memory{.bytes = bytes};
  device.library().check("baton_device_alloc", device.library().alloc(device.get(), bytes, &memory.address));
  device.allocations.emplace(memory.address, bytes);
  return memory;
}

void ChipWorker::free(const Buffer& memory) {
  platform::Device& device = this->device();
  if (device.allocations.erase(memory.address) == 0) {
    fail(Situation::not_chip_memory, "{:#x} is not memory of device {}, or was freed before", memory.address,
         device.id());
  }
  device.library().check("baton_device_free", device.library().free(device.get(), memory.address));
}

void ChipWorker::copy_in(const Buffer& to, std::span<const std::byte> from, std::size_t offset) {
  check_range("copy_in", to, offset, from.size());
  const auto& library = device().library();
  library.check("baton_device_copy_in", library.copy_in(device().get(), to.address + offset, from.data(), from.size()));
}

void ChipWorker::copy_out(std::span<std::byte> to, const Buffer& from, std::size_t offset) {
  check_range("copy_out", from, offset, to.size());
  const auto& library = device().library();
  library.check("baton_device_copy_out", library.copy_out(device().get(), to.data(), from.address + offset, to.size()));
}

ChipWorker::LoadedKernel ChipWorker::load_kernel(const std::string& path, const std::string& name) {
  const auto& library = device().library();
  BatonDeviceKernel* kernel = nullptr;
  library.check("baton_device_load_kernel", library.load_kernel(device().get(), path.c_str(), name.c_str(), &kernel));
  return LoadedKernel(kernel);
}

void ChipWorker::run(const LoadedKernel& kernel, std::span<const Argument> arguments, std::uint32_t blocks) {
  if (kernel.kernel_ == nullptr) fail(Code::invalid_argument, "run: the kernel was not loaded");
  std::vector<BatonDeviceArgument> list;
  list.reserve(arguments.size());
  for (const Argument& argument : arguments) list.push_back(argument_of(argument));
  BatonDeviceTask task{};
  task.kernels[0] = static_cast<BatonDeviceKernel*>(kernel.kernel_);
  task.cores = BATON_TASK_VECTOR;
  task.arguments = list.data();
  task.argument_count = static_cast<std::uint32_t>(list.size());
  task.blocks = blocks;
  const platform::Device& device = this->device();
  const auto& library = device.library();
  const std::uint64_t no_predecessors[] = {0, 0};
  BatonDeviceGraph* graph = nullptr;
  library.check("baton_graph_make", library.graph_make(device.get(), &task, 1, no_predecessors, nullptr, &graph));
  const auto free_graph = [&](BatonDeviceGraph* made) { static_cast<void>(library.graph_free(made)); };
  const std::unique_ptr<BatonDeviceGraph, decltype(free_graph)> owner(graph, free_graph);
  std::vector<BatonDeviceExtent> extents;
  for (const auto& [address, bytes] : device.allocations) extents.push_back({address, bytes});
  if (device.group) {
    device.group->for_each_extent([&](std::uintptr_t begin, std::size_t bytes) { extents.push_back({begin, bytes}); });
    std::ranges::sort(extents, {}, &BatonDeviceExtent::address);
  }
  BatonRunOptions run{};
  run.extents = extents.data();
  run.extent_count = extents.size();
  run.wait_limit_ns = static_cast<std::uint64_t>(options().wait_timeout.count());
  run.run_limit_ns = static_cast<std::uint64_t>(options().kernel_limit().count());
  std::uint32_t failed = BATON_NO_TASK;
  library.check("baton_graph_run", library.graph_run(graph, &run, &failed));
}

void ChipWorker::comm_init(int rank, int nranks, const std::string& rendezvous) {
  platform::Device& device = this->device();
  const auto& library = device.library();
  if (device.has_comm()) fail(Code::invalid_argument, "comm_init: device {} is in a group already", device.id());
  if (device.groups_by_windows()) {
    device.group = std::make_unique<platform::WorkerGroup>(device.open(), rank, nranks, rendezvous);
    return;
  }
  void* stream = library.stream ? library.stream(device.get()) : nullptr;
  void* comm = library.comm_init(rank, nranks, stream, rendezvous.c_str());
  if (comm == nullptr) {
    library.check("comm_init", code_in(library.comm_last_error ? library.comm_last_error() : ""));
  }
  device.set_comm(comm);
  if (!library.attach_comm) return;
  try {
    library.check("baton_device_attach_comm", library.attach_comm(device.get(), comm));
  } catch (...) {
    device.set_comm(nullptr);
    static_cast<void>(library.comm_destroy(comm));
    throw;
  }
}

std::uint64_t ChipWorker::comm_alloc_windows(std::size_t bytes) {
  if (device().groups_by_windows()) return device().joined("comm_alloc_windows").alloc_windows(bytes);
  const auto& library = device().library();
  std::uint64_t context = 0;
  // The group is asked for last: a platform without the function says so whether there is a group or not.
  const auto& call = library.comm_alloc_windows;
  library.check("comm_alloc_windows", call(call ? device().comm("comm_alloc_windows") : nullptr, bytes, &context));
  return context;
}

std::uint64_t ChipWorker::comm_get_local_window_base() {
  if (device().groups_by_windows()) return device().joined("comm_get_local_window_base").window_base();
  const auto& library = device().library();
  std::uint64_t base = 0;
  const auto& call = library.comm_get_local_window_base;
  library.check("comm_get_local_window_base",
                call(call ? device().comm("comm_get_local_window_base") : nullptr, &base));
  return base;
}

std::size_t ChipWorker::comm_get_window_size() {
  if (device().groups_by_windows()) return device().joined("comm_get_window_size").window_bytes();
  const auto& library = device().library();
  std::size_t bytes = 0;
  const auto& call = library.comm_get_window_size;
  library.check("comm_get_window_size", call(call ? device().comm("comm_get_window_size") : nullptr, &bytes));
  return bytes;
}

void ChipWorker::comm_barrier() {
  if (device().groups_by_windows()) return device().joined("comm_barrier").barrier();
  const auto& library = device().library();
  const auto& call = library.comm_barrier;
  library.check("comm_barrier", call(call ? device().comm("comm_barrier") : nullptr));
}

void ChipWorker::comm_destroy() {
  if (device().groups_by_windows()) {
    static_cast<void>(device().joined("comm_destroy"));
    device().group.reset();
    return;
  }
  const auto& library = device().library();
  const auto& call = library.comm_destroy;
  void* comm = call ? device().comm("comm_destroy") : nullptr;
  device().set_comm(nullptr);
  library.check("comm_destroy", call(comm));
}

void ChipWorker::close() { device_.reset(); }

}  // namespace baton
