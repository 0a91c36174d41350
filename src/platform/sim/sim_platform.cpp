// The simulated platforms: the C interface of a platform over Chip and Domain. One source for all profiles.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <baton/comm.h>
#include <baton/platform.h>
#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/join.hpp>
#include <baton/kernel_source.hpp>

#include "platform/shared/status.hpp"
#include "platform/sim/platform_name.hpp"

namespace {

using baton::platforms::guarded;
using baton::platforms::kPlatformName;
using baton::platforms::last_error;

/// What a CommHandle of this library points to.
struct Group {
  baton::Domain domain;
  std::optional<baton::RawWindow> window;
};

Group* group_of(CommHandle handle) {
  if (handle == nullptr) throw baton::Error(baton::Code::invalid_argument, "the handle is null");
  return reinterpret_cast<Group*>(handle);
}

const baton::RawWindow& window_of(CommHandle handle) {
  const Group* group = group_of(handle);
  if (!group->window) {
    throw baton::Error(baton::Code::invalid_argument, "comm_alloc_windows() was not called yet");
  }
  return *group->window;
}

}  // namespace

struct BatonDeviceKernel {
  baton::LoadedKernel kernel;
};

/// The chip is made when it is first used: by then the device may have joined a group.
struct BatonDevice {
  std::optional<baton::Domain> domain;
  std::unique_ptr<baton::Chip> chip;
  std::map<std::uint64_t, baton::Tensor> memory;
  std::vector<std::unique_ptr<BatonDeviceKernel>> kernels;

  baton::Chip& get() {
    if (!chip) {
      const baton::ChipOptions options{.platform = kPlatformName};
      chip = domain ? std::make_unique<baton::Chip>(*domain, options) : std::make_unique<baton::Chip>(options);
    }
    return *chip;
  }
};

namespace {

baton::Access access_of(std::uint32_t access) {
  switch (access) {
    case BATON_ARGUMENT_IN: return baton::Access::in;
    case BATON_ARGUMENT_OUT: return baton::Access::out;
    case BATON_ARGUMENT_INOUT: return baton::Access::inout;
    default: break;
  }
  throw baton::Error(baton::Code::invalid_argument, "an argument has the access " + std::to_string(access));
}

baton::Tensor tensor_of(const BatonDeviceArgument& argument) {
  if (argument.dims < 1 || argument.dims > BATON_ARGUMENT_DIMS) {
    throw baton::Error(baton::Code::invalid_argument,
                       "an argument has " + std::to_string(argument.dims) + " dimensions");
  }
  if (argument.dtype >= static_cast<std::uint32_t>(baton::kDTypeCount)) {
    throw baton::Error(baton::Code::invalid_argument, "an argument has the dtype " + std::to_string(argument.dtype));
  }
  return baton::Tensor({.address = argument.address, .bytes = argument.bytes},
                       static_cast<baton::DType>(argument.dtype), {argument.shape, argument.dims},
                       {argument.strides, argument.dims}, argument.offset);
}

/// A task of a graph, with what it points to.
struct Submitted {
  explicit Submitted(const BatonDeviceTask& given) : task(given) {
    if (given.cores == BATON_TASK_NONE || given.cores == BATON_TASK_CLUSTER ||
        (given.flags & ~uint32_t{BATON_TASK_TOGETHER}) != 0) {
      throw baton::Error(baton::Code::unsupported, "this library runs tasks of one kernel; use Chip for others");
    }
    arguments.assign(given.arguments, given.arguments + given.argument_count);
  }

  baton::TaskId submit(baton::Graph& graph, const std::vector<baton::TaskId>& numbers) const {
    std::vector<baton::Tensor> tensors;
    tensors.reserve(arguments.size());  // the list refers to them
    std::vector<baton::Argument> list;
    for (const BatonDeviceArgument& argument : arguments) {
      if (argument.access == BATON_ARGUMENT_SCALAR) {
        list.emplace_back(static_cast<std::int64_t>(argument.address));
      } else {
        tensors.push_back(tensor_of(argument));
        list.emplace_back(access_of(argument.access), tensors.back());
      }
    }
    baton::TaskOptions options{
        .blocks = task.blocks, .start_together = (task.flags & BATON_TASK_TOGETHER) != 0, .priority = task.priority};
    for (const std::uint32_t earlier : after) options.after.push_back(numbers[earlier]);
    return graph.submit_arguments(task.kernels[0]->kernel.get(), list, options, {});
  }

  BatonDeviceTask task;
  std::vector<BatonDeviceArgument> arguments;
  std::vector<std::uint32_t> after;
};

}  // namespace

struct BatonDeviceGraph {
  BatonDevice* device = nullptr;
  std::vector<Submitted> tasks;
};

extern "C" {

BATON_PLATFORM_EXPORT uint32_t baton_platform_version(void) { return BATON_PLATFORM_VERSION; }
BATON_PLATFORM_EXPORT const char* baton_platform_last_error(void) { return last_error().c_str(); }

BATON_PLATFORM_EXPORT int baton_device_open(int device_id, BatonDevice** device_out) {
  return guarded([&] {
    if (device_id < 0) {
      throw baton::Error(baton::Code::out_of_range, "there is no device " + std::to_string(device_id));
    }
    *device_out = new BatonDevice;
  });
}

BATON_PLATFORM_EXPORT int baton_device_close(BatonDevice* device) {
  return guarded([&] { delete device; });
}

BATON_PLATFORM_EXPORT int baton_device_attach_comm(BatonDevice* device, void* comm) {
  return guarded([&] {
    if (device->chip) {
      throw baton::Error(baton::Code::invalid_argument, "the device was used before it joined a group",
                         {"join before the first allocation and the first kernel"});
    }
    device->domain = group_of(static_cast<CommHandle>(comm))->domain;
  });
}

BATON_PLATFORM_EXPORT int baton_device_alloc(BatonDevice* device, size_t bytes, uint64_t* address_out) {
  return guarded([&] {
    const baton::Tensor memory = device->get().alloc<std::uint8_t>({static_cast<std::int64_t>(bytes)});
    device->memory.emplace(memory.address(), memory);
    *address_out = memory.address();
  });
}

BATON_PLATFORM_EXPORT int baton_device_free(BatonDevice* device, uint64_t address) {
  return guarded([&] {
    const auto found = device->memory.find(address);
    if (found == device->memory.end()) throw baton::Error(baton::Code::released, "no live memory has this address");
    device->get().free(found->second);
    device->memory.erase(found);
  });
}

// Host and simulated chip share their memory; addresses of windows are good, too.
BATON_PLATFORM_EXPORT int baton_device_copy_in(BatonDevice* /*device*/, uint64_t to, const void* from, size_t bytes) {
  __builtin_memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}

BATON_PLATFORM_EXPORT int baton_device_copy_out(BatonDevice* /*device*/, void* to, uint64_t from, size_t bytes) {
  __builtin_memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}

BATON_PLATFORM_EXPORT int baton_device_load_kernel(BatonDevice* device, const char* path, const char* name,
                                                   BatonDeviceKernel** kernel_out) {
  return guarded([&] {
    auto kernel = std::make_unique<BatonDeviceKernel>(BatonDeviceKernel{baton::KernelFile::load(path).kernel(name)});
    *kernel_out = kernel.get();
    device->kernels.push_back(std::move(kernel));
  });
}

BATON_PLATFORM_EXPORT int baton_device_describe(BatonDevice* device, BatonDeviceDescription* out) {
  return guarded([&] {
    out->clusters = static_cast<uint32_t>(device->get().clusters());
    out->memory = BATON_MEMORY_HOST;
  });
}

BATON_PLATFORM_EXPORT int baton_graph_make(BatonDevice* device, const BatonDeviceTask* tasks, size_t count,
                                           const uint64_t* first_predecessor, const uint32_t* predecessors,
                                           BatonDeviceGraph** graph_out) {
  return guarded([&] {
    auto graph = std::make_unique<BatonDeviceGraph>();
    graph->device = device;
    for (size_t i = 0; i < count; ++i) {
      graph->tasks.emplace_back(tasks[i]);
      graph->tasks.back().after.assign(predecessors + first_predecessor[i], predecessors + first_predecessor[i + 1]);
    }
    *graph_out = graph.release();
  });
}

BATON_PLATFORM_EXPORT int baton_graph_set(BatonDeviceGraph* graph, size_t task, const BatonDeviceTask* changed) {
  return guarded([&] {
    Submitted again(*changed);
    again.after = std::move(graph->tasks.at(task).after);
    graph->tasks.at(task) = std::move(again);
  });
}

BATON_PLATFORM_EXPORT int baton_graph_run(BatonDeviceGraph* graph, const BatonRunOptions* /*options*/,
                                          uint32_t* failed_task) {
  *failed_task = BATON_NO_TASK;
  return guarded([&] {
    graph->device->get().run(
        [&](baton::Graph& run) {
          std::vector<baton::TaskId> numbers;
          for (const Submitted& task : graph->tasks) numbers.push_back(task.submit(run, numbers));
        },
        {.edges = baton::Edges::named});
  });
}

BATON_PLATFORM_EXPORT int baton_graph_free(BatonDeviceGraph* graph) {
  return guarded([&] { delete graph; });
}

CommHandle comm_init(int rank, int nranks, void* /*stream*/, const char* rendezvous) {
  CommHandle handle = nullptr;
  guarded([&] {
    if (rendezvous == nullptr) throw baton::Error(baton::Code::invalid_argument, "comm_init: rendezvous is null");
    handle = reinterpret_cast<CommHandle>(new Group{baton::join(rendezvous, rank, nranks), std::nullopt});
  });
  return handle;
}

int comm_alloc_windows(CommHandle handle, size_t bytes, uint64_t* ctx_out) {
  return guarded([&] {
    Group* group = group_of(handle);
    if (group->window) throw baton::Error(baton::Code::invalid_argument, "this handle has its windows already");
    group->window = group->domain.raw_window("windows", bytes);
    *ctx_out = reinterpret_cast<uint64_t>(group->window->context());
  });
}

int comm_get_local_window_base(CommHandle handle, uint64_t* base_out) {
  return guarded([&] { *base_out = reinterpret_cast<uint64_t>(window_of(handle).local()); });
}

int comm_get_window_size(CommHandle handle, size_t* bytes_out) {
  return guarded([&] { *bytes_out = window_of(handle).bytes(); });
}

int comm_barrier(CommHandle handle) {
  return guarded([&] { group_of(handle)->domain.barrier(); });
}

int comm_destroy(CommHandle handle) {
  return guarded([&] { delete group_of(handle); });
}

const char* comm_last_error(void) { return last_error().c_str(); }

}  // extern "C"
