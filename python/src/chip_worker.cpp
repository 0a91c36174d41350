#include <baton/chip_worker.hpp>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "bind.hpp"
#include "gil.hpp"
#include "interruptible.hpp"
#include "kernel.hpp"

namespace baton::python {
namespace {

using Shared = std::shared_ptr<ChipWorker>;

/// Memory of the device, which may not be the host's: tensors over it are for kernels of that device and for copies.
class DeviceMemory final : public Memory {
 public:
  DeviceMemory(const Buffer& buffer, const MemoryPlace& place) : Memory(buffer, Writable::yes), place_(place) {}
  [[nodiscard]] MemoryPlace place() const noexcept override { return place_; }

 private:
  MemoryPlace place_;
};

Array alloc(const Shared& worker, const std::vector<std::int64_t>& shape, const std::string& dtype_name) {
  const DType dtype = dtype_named(dtype_name);
  std::size_t bytes = size_of(dtype);
  for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
  const Buffer buffer = worker->alloc(bytes);
  return {Tensor(buffer, dtype, shape), std::make_shared<DeviceMemory>(buffer, worker->memory_place())};
}

std::size_t offset_of(const Array& array) {
  return static_cast<std::size_t>(array.tensor.offset()) * size_of(array.tensor.dtype());
}

}  // namespace

void bind_chip_worker(nb::module_& module) {
  nb::class_<ChipWorker::LoadedKernel>(module, "DeviceKernel");
  nb::class_<ChipWorker>(module, "ChipWorker")
      .def_prop_ro("library", &ChipWorker::library)
      .def_prop_ro("device_id", &ChipWorker::device_id)
      .def("has", &ChipWorker::has)
      .def("alloc", alloc)
      .def("free",
           [](ChipWorker& worker, const Array& array) {
             static_cast<void>(array.get());
             worker.free(array.tensor.buffer());
             if (array.memory) array.memory->release("the tensor");
           })
      .def("copy_in",
           [](const Shared& worker, const Array& to, const nb::object& from) {
             const Array source = copied_to(to, from);
             check_copy(to, source, "copy_in");
             const Unlocked unlocked;
             worker->copy_in(to.tensor.buffer(),
                             {reinterpret_cast<const std::byte*>(source.tensor.address()), bytes_of(source)},
                             offset_of(to));
           })
      .def("copy_out",
           [](const Shared& worker, const nb::object& to, const Array& from) {
             const Array target = copied_from(from, to);
             check_copy(target, from, "copy_out");
             const Unlocked unlocked;
             worker->copy_out({reinterpret_cast<std::byte*>(target.tensor.address()), bytes_of(target)},
                              from.tensor.buffer(), offset_of(from));
           })
      .def("load_kernel", [](const Shared& worker, const std::string& path,
                             const std::string& name) { return worker->load_kernel(path, name); })
      .def("run",
           [](const Shared& worker, const ChipWorker::LoadedKernel& loaded, const LoadedKernel& kernel,
              std::uint32_t blocks, const nb::args& given) {
             const auto arguments = std::make_shared<CallArguments>(&kernel.get(), given);
             run_interruptibly([worker, loaded, arguments, blocks] { worker->run(loaded, arguments->get(), blocks); });
           })
      .def("comm_init",
           [](const Shared& worker, int rank, int nranks, const std::string& rendezvous) {
             run_interruptibly([=] { worker->comm_init(rank, nranks, rendezvous); });
           })
      .def("comm_alloc_windows",
           [](const Shared& worker, std::size_t bytes) {
             return interruptibly([=] { return worker->comm_alloc_windows(bytes); });
           })
      .def("comm_get_local_window_base", &ChipWorker::comm_get_local_window_base)
      .def("comm_get_window_size", &ChipWorker::comm_get_window_size)
      .def("comm_barrier", [](const Shared& worker) { run_interruptibly([=] { worker->comm_barrier(); }); })
      .def("comm_destroy", [](const Shared& worker) { run_interruptibly([=] { worker->comm_destroy(); }); })
      .def("close", [](const Shared& worker) { run_interruptibly([=] { worker->close(); }); });
  module.def("make_chip_worker", [](const std::string& platform, int device_id) {
    return std::make_shared<ChipWorker>(platform, device_id);
  });
}

}  // namespace baton::python
