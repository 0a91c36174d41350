// NVIDIA's driver for the peers, loaded at run time: these programs are built where there is no CUDA, too.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace bench::cuda {

using Address = std::uint64_t;
using Handle = void*;

/// Struct CUDA_KERNEL_NODE_PARAMS, version 2.
struct KernelNode {
  Handle function;
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void** parameters;
  void** extra;
  Handle kernel;
  Handle context;
};

class Driver {
 public:
  static const Driver& get() {
    static const Driver driver;
    return driver;
  }

  /// Calls a function of the driver. For those that are timed there are members below.
  template <class... Arguments>
  void call(const char* name, Arguments... arguments) const {
    check(name, find<int(Arguments...)>(name)(arguments...));
  }
  static void check(const char* what, int result) {
    if (result != 0) throw std::runtime_error(std::string(what) + " failed with " + std::to_string(result));
  }
  template <class Function>
  [[nodiscard]] Function* find(const char* name) const {
    void* found = ::dlsym(library_, name);
    if (found == nullptr) throw std::runtime_error(std::string("the driver has no ") + name);
    return reinterpret_cast<Function*>(found);
  }

 private:
  Driver() : library_(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw std::runtime_error("there is no driver for NVIDIA GPUs (libcuda.so.1)");
    call("cuInit", 0U);
    int device = 0;
    call("cuDeviceGet", &device, 0);
    Handle context = nullptr;
    call("cuDevicePrimaryCtxRetain", &context, device);
    call("cuCtxSetCurrent", context);
  }

  void* library_;

 public:
  int (*launch)(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                unsigned block_z, unsigned shared_bytes, Handle stream, void** parameters, void** extra) =
      find<int(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**, void**)>(
          "cuLaunchKernel");
  int (*launch_graph)(Handle graph, Handle stream) = find<int(Handle, Handle)>("cuGraphLaunch");
  int (*wait)(Handle stream) = find<int(Handle)>("cuStreamSynchronize");
  int (*record)(Handle event, Handle stream) = find<int(Handle, Handle)>("cuEventRecord");
  int (*wait_for)(Handle stream, Handle event,
                  unsigned flags) = find<int(Handle, Handle, unsigned)>("cuStreamWaitEvent");
  int (*copy)(Address to, Address from, std::size_t bytes,
              Handle stream) = find<int(Address, Address, std::size_t, Handle)>("cuMemcpyDtoDAsync_v2");
};

}  // namespace bench::cuda
