// Platforms a2a3 and a5: the C interface of a platform over the runtime of Ascend chips.
#include <algorithm>
#include <memory>

#include <baton/platform.h>

#include "platform/ascend/graph.hpp"
#include "platform/ascend/npu.hpp"
#include "platform/ascend/window.hpp"
#include "platform/shared/status.hpp"

// Handles are addresses of these.
struct BatonDevice {
  baton::ascend::Npu npu;
};
struct BatonDeviceGraph {
  baton::ascend::Graph graph;
};
struct BatonDeviceWindow {
  BatonDeviceWindow(baton::ascend::Npu& npu, const baton::platforms::Group& group, size_t bytes)
      : window(npu, group, bytes) {}
  baton::ascend::Window window;
};

namespace {

using baton::platforms::guarded;
using baton::platforms::last_error;

}  // namespace

extern "C" {

BATON_PLATFORM_EXPORT uint32_t baton_platform_version(void) { return BATON_PLATFORM_VERSION; }
BATON_PLATFORM_EXPORT const char* baton_platform_last_error(void) { return last_error().c_str(); }

BATON_PLATFORM_EXPORT int baton_device_open(int device_id, BatonDevice** device_out) {
  return guarded([&] { *device_out = new BatonDevice{baton::ascend::Npu(device_id)}; });
}

BATON_PLATFORM_EXPORT int baton_device_close(BatonDevice* device) {
  return guarded([&] {
    const std::unique_ptr<BatonDevice> owner(device);
    device->npu.close();
  });
}

BATON_PLATFORM_EXPORT int baton_device_describe(BatonDevice* device, BatonDeviceDescription* out) {
  out->clusters = device->npu.clusters();
  out->memory = BATON_MEMORY_DEVICE;
  out->features = BATON_FEATURE_QUEUES | BATON_FEATURE_TIMES;
  return 0;
}

BATON_PLATFORM_EXPORT int baton_device_set_clusters(BatonDevice* device, uint32_t clusters) {
  return guarded([&] { device->npu.set_clusters(clusters); });
}

BATON_PLATFORM_EXPORT int baton_device_alloc(BatonDevice* device, size_t bytes, uint64_t* address_out) {
  return guarded(device->npu, [&] { *address_out = device->npu.alloc(bytes); });
}

BATON_PLATFORM_EXPORT int baton_device_free(BatonDevice* device, uint64_t address) {
  return guarded(device->npu, [&] { device->npu.free(address); });
}

BATON_PLATFORM_EXPORT int baton_device_copy_in(BatonDevice* device, uint64_t to, const void* from, size_t bytes) {
  return guarded(device->npu, [&] { device->npu.copy_in(to, from, bytes); });
}

BATON_PLATFORM_EXPORT int baton_device_copy_out(BatonDevice* device, void* to, uint64_t from, size_t bytes) {
  return guarded(device->npu, [&] { device->npu.copy_out(to, from, bytes); });
}

BATON_PLATFORM_EXPORT int baton_device_load_kernel(BatonDevice* device, const char* path, const char* name,
                                                   BatonDeviceKernel** kernel_out) {
  return guarded(device->npu,
                 [&] { *kernel_out = reinterpret_cast<BatonDeviceKernel*>(device->npu.kernels().load(path, name)); });
}

BATON_PLATFORM_EXPORT int baton_graph_make(BatonDevice* device, const BatonDeviceTask* tasks, size_t count,
                                           const uint64_t* first_predecessor, const uint32_t* predecessors,
                                           BatonDeviceGraph** graph_out) {
  return guarded(device->npu, [&] {
    *graph_out =
        new BatonDeviceGraph{baton::ascend::Graph(device->npu, {tasks, count}, first_predecessor, predecessors)};
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
  return guarded([&] {
    const std::unique_ptr<BatonDeviceGraph> owner(graph);
    graph->graph.close();
  });
}

BATON_PLATFORM_EXPORT int baton_window_open(BatonDevice* device, const BatonGroup* group, size_t bytes, uint64_t* parts,
                                            BatonDeviceWindow** window_out) {
  return guarded(device->npu, [&] {
    auto window = std::make_unique<BatonDeviceWindow>(device->npu, baton::platforms::Group(*group), bytes);
    std::ranges::copy(window->window.parts(), parts);
    *window_out = window.release();
  });
}

BATON_PLATFORM_EXPORT int baton_device_check_windows(BatonDevice* /*device*/) {
  return guarded([] { static_cast<void>(baton::ascend::Hccl::get()); });
}

BATON_PLATFORM_EXPORT int baton_window_leave(BatonDeviceWindow* window) {
  return guarded([&] { window->window.leave(); });
}

BATON_PLATFORM_EXPORT int baton_window_close(BatonDeviceWindow* window) {
  return guarded([&] {
    const std::unique_ptr<BatonDeviceWindow> owner(window);
    window->window.close();
  });
}

}  // extern "C"
