// Platform cuda: the C interface of a platform over the driver of NVIDIA's GPUs.
#include <memory>

#include <baton/platform.h>
#include <baton/error.hpp>
#include <baton/memory_place.hpp>

#include "platform/cuda/gpu.hpp"
#include "platform/cuda/graph.hpp"
#include "platform/cuda/task_stream.hpp"
#include "platform/cuda/window.hpp"
#include "platform/shared/status.hpp"

// Handles are addresses of these.
struct BatonDevice {
  std::unique_ptr<baton::cuda::Gpu> gpu;
  std::unique_ptr<baton::cuda::TaskStream> tasks{};
};
struct BatonDeviceGraph {
  baton::cuda::Graph graph;
};
struct BatonDeviceWindow {
  BatonDevice* device;
  baton::cuda::Window window;
};

namespace {

using baton::platforms::guarded;
using baton::platforms::last_error;

/// A task of three cores.
constexpr int kCoresOfCluster = 3;

}  // namespace

extern "C" {

BATON_PLATFORM_EXPORT uint32_t baton_platform_version(void) { return BATON_PLATFORM_VERSION; }
BATON_PLATFORM_EXPORT const char* baton_platform_last_error(void) { return last_error().c_str(); }

BATON_PLATFORM_EXPORT int baton_device_open(int device_id, BatonDevice** device_out) {
  return guarded([&] { *device_out = new BatonDevice{baton::cuda::Gpu::whole(device_id)}; });
}

BATON_PLATFORM_EXPORT int baton_device_open_part(int device_id, int device_count, BatonDevice** device_out) {
  return guarded([&] { *device_out = new BatonDevice{baton::cuda::Gpu::part(device_id, device_count)}; });
}

BATON_PLATFORM_EXPORT int baton_device_close(BatonDevice* device) {
  return guarded(*device->gpu, [&] { delete device; });
}

BATON_PLATFORM_EXPORT int baton_device_describe(BatonDevice* device, BatonDeviceDescription* out) {
  out->clusters = static_cast<uint32_t>(device->gpu->core_count() / kCoresOfCluster);
  out->memory = BATON_MEMORY_DEVICE;
  out->features = BATON_FEATURE_BLOCKS | BATON_FEATURE_QUEUES;
  return 0;
}

BATON_PLATFORM_EXPORT int baton_device_set_clusters(BatonDevice* device, uint32_t clusters) {
  return guarded(*device->gpu, [&] { device->gpu->divide(static_cast<int>(clusters) * kCoresOfCluster); });
}

BATON_PLATFORM_EXPORT int baton_device_dlpack(BatonDevice* device, int32_t* type_out, int32_t* number_out) {
  *type_out = baton::MemoryPlace::kCuda;
  *number_out = device->gpu->shared().ordinal();
  return 0;
}

BATON_PLATFORM_EXPORT int baton_device_alloc(BatonDevice* device, size_t bytes, uint64_t* address_out) {
  return guarded(*device->gpu, [&] { *address_out = device->gpu->alloc(bytes); });
}

BATON_PLATFORM_EXPORT int baton_device_free(BatonDevice* device, uint64_t address) {
  return guarded(*device->gpu, [&] { device->gpu->free(address); });
}

BATON_PLATFORM_EXPORT int baton_device_copy_in(BatonDevice* device, uint64_t to, const void* from, size_t bytes) {
  return guarded(*device->gpu, [&] { device->gpu->copy_in("copying to the GPU", to, from, bytes); });
}

BATON_PLATFORM_EXPORT int baton_device_copy_out(BatonDevice* device, void* to, uint64_t from, size_t bytes) {
  return guarded(*device->gpu, [&] { device->gpu->copy_out("copying from the GPU", to, from, bytes); });
}

BATON_PLATFORM_EXPORT int baton_device_load_kernel(BatonDevice* device, const char* path, const char* name,
                                                   BatonDeviceKernel** kernel_out) {
  return guarded(*device->gpu,
                 [&] { *kernel_out = reinterpret_cast<BatonDeviceKernel*>(device->gpu->shared().load(path, name)); });
}

BATON_PLATFORM_EXPORT int baton_window_open(BatonDevice* device, const BatonGroup* group, size_t bytes, uint64_t* parts,
                                            BatonDeviceWindow** window_out) {
  return guarded(*device->gpu, [&] {
    *window_out = new BatonDeviceWindow{device, {*device->gpu, *group, bytes, parts}};
  });
}

// The parts of others stay reachable as long as they exist.
BATON_PLATFORM_EXPORT int baton_window_leave(BatonDeviceWindow* /*window*/) { return 0; }

BATON_PLATFORM_EXPORT int baton_window_close(BatonDeviceWindow* window) {
  return guarded(*window->device->gpu, [&] { delete window; });
}

BATON_PLATFORM_EXPORT int baton_graph_make(BatonDevice* device, const BatonDeviceTask* tasks, size_t count,
                                           const uint64_t* first_predecessor, const uint32_t* predecessors,
                                           BatonDeviceGraph** graph_out) {
  return guarded(*device->gpu, [&] {
    *graph_out =
        new BatonDeviceGraph{baton::cuda::Graph(*device->gpu, {tasks, count}, first_predecessor, predecessors)};
  });
}

BATON_PLATFORM_EXPORT int baton_graph_set(BatonDeviceGraph* graph, size_t task, const BatonDeviceTask* changed) {
  return guarded([&] { graph->graph.set(task, *changed); });
}

BATON_PLATFORM_EXPORT int baton_graph_run(BatonDeviceGraph* graph, const BatonRunOptions* options,
                                          uint32_t* failed_task) {
  return guarded([&] { graph->graph.run(*options, *failed_task); });
}

BATON_PLATFORM_EXPORT int baton_graph_free(BatonDeviceGraph* graph) {
  return guarded(graph->graph.gpu(), [&] { delete graph; });
}

BATON_PLATFORM_EXPORT int baton_stream_begin(BatonDevice* device, const BatonRunOptions* options, int* takes_out) {
  return guarded(*device->gpu, [&] {
    baton::cuda::Residence* const cores = device->gpu->residence();
    *takes_out = cores != nullptr && device->gpu->shared().has_kernels() ? 1 : 0;
    if (*takes_out == 0) return;
    if (!device->tasks) device->tasks = std::make_unique<baton::cuda::TaskStream>(*device->gpu, *cores);
    device->tasks->begin(*options);
  });
}

BATON_PLATFORM_EXPORT int baton_stream_submit(BatonDevice* device, const BatonDeviceTask* task,
                                              const uint32_t* predecessors, size_t count, uint32_t* failed_task) {
  return guarded([&] { device->tasks->submit(*task, {predecessors, count}, *failed_task); });
}

BATON_PLATFORM_EXPORT int baton_stream_wait(BatonDevice* device, uint32_t* failed_task) {
  return guarded(*device->gpu, [&] { device->tasks->wait(*failed_task); });
}

}  // extern "C"
