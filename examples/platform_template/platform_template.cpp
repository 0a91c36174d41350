// A platform to start from: the smallest one that runs kernels, in the memory and on the thread of the caller.
// It has no communication group on purpose: ChipWorker::comm_init() says so when it is called.
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <baton/platform.h>
#include <dlfcn.h>
#include <baton/error_codes.hpp>
#include <baton/kernel_abi.hpp>

#include <tensor.h>

namespace {

// Numbers of the one table.
enum Status : int {
#define PLATFORM_STATUS(number, name, sentence, remedy) name = number,
  BATON_ERROR_TABLE(PLATFORM_STATUS)
#undef PLATFORM_STATUS
};

thread_local std::string last_error;

int fail(Status status, std::string message) {
  last_error = std::move(message);
  return status;
}

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
struct CloseLibrary {
  void operator()(void* library) const { ::dlclose(library); }
};

constexpr std::size_t kAlignment = 64;

}  // namespace

struct BatonDeviceKernel {
  std::unique_ptr<void, CloseLibrary> library;
  BatonKernelFunction function;
};

struct BatonDevice {
  std::map<std::uint64_t, std::unique_ptr<void, FreeMemory>> memory;
  std::vector<std::unique_ptr<BatonDeviceKernel>> kernels;
};

namespace {

/// A kernel and what it receives: pointers to the descriptors of its tensors, then its scalars.
class Call {
 public:
  Call() = default;
  explicit Call(const BatonDeviceTask& task) : function_(task.kernels[0]->function) {
    for (uint32_t i = 0; i < task.argument_count; ++i) {
      const BatonDeviceArgument& given = task.arguments[i];
      if (given.access == BATON_ARGUMENT_SCALAR) {
        scalars_.push_back(static_cast<std::int64_t>(given.address));
      } else {
        tensors_.push_back(tensor_of(given));
      }
    }
  }

  void run() {
    std::vector<std::int64_t> slots;
    for (ChipTensor& tensor : tensors_) slots.push_back(reinterpret_cast<std::int64_t>(&tensor));
    slots.insert(slots.end(), scalars_.begin(), scalars_.end());
    function_(slots.data());
  }

 private:
  static ChipTensor tensor_of(const BatonDeviceArgument& given) {
    ChipTensor tensor{};
    tensor.buffer = {given.address, given.bytes};
    tensor.start_offset = static_cast<std::uint64_t>(given.offset);
    tensor.dtype = static_cast<DataType>(given.dtype);
    tensor.ndims = given.dims;
    for (uint32_t d = 0; d < given.dims; ++d) {
      tensor.shapes[d] = static_cast<std::uint32_t>(given.shape[d]);
      tensor.strides[d] = static_cast<std::uint32_t>(given.strides[d]);
    }
    return tensor;
  }

  BatonKernelFunction function_ = nullptr;
  std::vector<ChipTensor> tensors_;
  std::vector<std::int64_t> scalars_;
};

}  // namespace

struct BatonDeviceGraph {
  std::vector<Call> calls;
};

extern "C" {

BATON_PLATFORM_EXPORT uint32_t baton_platform_version(void) { return BATON_PLATFORM_VERSION; }
BATON_PLATFORM_EXPORT const char* baton_platform_last_error(void) { return last_error.c_str(); }

BATON_PLATFORM_EXPORT int baton_device_open(int device_id, BatonDevice** device_out) {
  if (device_id != 0) return fail(out_of_range, "there is only device 0");
  *device_out = new (std::nothrow) BatonDevice;
  return *device_out != nullptr ? 0 : fail(out_of_memory, "no memory for a device");
}

BATON_PLATFORM_EXPORT int baton_device_close(BatonDevice* device) {
  delete device;
  return 0;
}

BATON_PLATFORM_EXPORT int baton_device_alloc(BatonDevice* device, size_t bytes, uint64_t* address_out) {
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) return fail(out_of_memory, "no " + std::to_string(bytes) + " bytes");
  std::memset(memory, 0, rounded);
  *address_out = reinterpret_cast<uint64_t>(memory);
  device->memory.emplace(*address_out, memory);
  return 0;
}

BATON_PLATFORM_EXPORT int baton_device_free(BatonDevice* device, uint64_t address) {
  return device->memory.erase(address) == 1 ? 0 : fail(released, "no live memory has this address");
}

BATON_PLATFORM_EXPORT int baton_device_copy_in(BatonDevice* /*device*/, uint64_t to, const void* from, size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}

BATON_PLATFORM_EXPORT int baton_device_copy_out(BatonDevice* /*device*/, void* to, uint64_t from, size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}

BATON_PLATFORM_EXPORT int baton_device_load_kernel(BatonDevice* device, const char* path, const char* name,
                                                   BatonDeviceKernel** kernel_out) {
  std::unique_ptr<void, CloseLibrary> library(::dlopen(path, RTLD_NOW | RTLD_LOCAL));
  if (!library) return fail(not_a_kernel, ::dlerror());
  void* symbol = ::dlsym(library.get(), name);
  if (symbol == nullptr) symbol = ::dlsym(library.get(), (std::string("baton_kernel_") + name).c_str());
  if (symbol == nullptr) return fail(not_a_kernel, std::string(path) + " has no kernel " + name);
  device->kernels.push_back(std::make_unique<BatonDeviceKernel>(
      BatonDeviceKernel{std::move(library), reinterpret_cast<BatonKernelFunction>(symbol)}));
  *kernel_out = device->kernels.back().get();
  return 0;
}

BATON_PLATFORM_EXPORT int baton_device_describe(BatonDevice* /*device*/, BatonDeviceDescription* out) {
  *out = {.clusters = 1, .memory = BATON_MEMORY_HOST, .features = 0};
  return 0;
}

BATON_PLATFORM_EXPORT int baton_graph_set(BatonDeviceGraph* graph, size_t task, const BatonDeviceTask* changed);

BATON_PLATFORM_EXPORT int baton_graph_make(BatonDevice* /*device*/, const BatonDeviceTask* tasks, size_t count,
                                           const uint64_t* /*first_predecessor*/, const uint32_t* /*predecessors*/,
                                           BatonDeviceGraph** graph_out) {
  auto graph = std::make_unique<BatonDeviceGraph>();
  for (size_t i = 0; i < count; ++i) {
    graph->calls.emplace_back();
    if (const int status = baton_graph_set(graph.get(), i, &tasks[i])) return status;
  }
  *graph_out = graph.release();
  return 0;
}

BATON_PLATFORM_EXPORT int baton_graph_set(BatonDeviceGraph* graph, size_t task, const BatonDeviceTask* changed) {
  if (changed->cores > BATON_TASK_CUBE || changed->flags != 0 || changed->blocks != 1) {
    return fail(unsupported, "this platform has one core: one kernel and one block at a time");
  }
  graph->calls.at(task) = Call(*changed);
  return 0;
}

// One core runs the tasks in their order, in which those before others come first.
BATON_PLATFORM_EXPORT int baton_graph_run(BatonDeviceGraph* graph, const BatonRunOptions* /*options*/,
                                          uint32_t* failed_task) {
  *failed_task = BATON_NO_TASK;
  for (Call& call : graph->calls) call.run();
  return 0;
}

BATON_PLATFORM_EXPORT int baton_graph_free(BatonDeviceGraph* graph) {
  delete graph;
  return 0;
}

}  // extern "C"
