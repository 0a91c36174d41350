#include "platform/cuda/driver.hpp"

#include <dlfcn.h>

#include <string>

#include <fmt/format.h>

#include <baton/error.hpp>

namespace baton::cuda {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";

void* open_driver() {
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const char* reason = ::dlerror();
  throw Error(Code::unsupported, fmt::format("there is no driver for NVIDIA GPUs: {} cannot be loaded", kLibrary),
              {reason == nullptr ? "no reason given" : reason});
}

template <class Function>
void find(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) {
    throw Error(Code::unsupported, fmt::format("the driver of NVIDIA's GPUs is too old: {} has no {}", kLibrary, name),
                {"a driver for CUDA 12 or later is needed"});
  }
}

}  // namespace

const Driver& Driver::get() {
  static const Driver driver;
  return driver;
}

Driver::Driver() {
  void* library = open_driver();  // never closed: the driver has threads of its own
  find(library, init, "cuInit");
  find(library, driver_version, "cuDriverGetVersion");
  find(library, device_count, "cuDeviceGetCount");
  find(library, device_get, "cuDeviceGet");
  find(library, device_name, "cuDeviceGetName");
  find(library, device_attribute, "cuDeviceGetAttribute");
  find(library, context_retain, "cuDevicePrimaryCtxRetain");
  find(library, context_release, "cuDevicePrimaryCtxRelease_v2");
  find(library, context_set, "cuCtxSetCurrent");
  find(library, context_limit, "cuCtxSetLimit");
  find(library, alloc, "cuMemAlloc_v2");
  find(library, free, "cuMemFree_v2");
  find(library, host_alloc, "cuMemHostAlloc");
  find(library, host_free, "cuMemFreeHost");
  find(library, pool_create, "cuMemPoolCreate");
  find(library, pool_set, "cuMemPoolSetAttribute");
  find(library, pool_destroy, "cuMemPoolDestroy");
  find(library, pool_alloc, "cuMemAllocFromPoolAsync");
  find(library, pool_free, "cuMemFreeAsync");
  find(library, can_access_peer, "cuDeviceCanAccessPeer");
  find(library, enable_peer_access, "cuCtxEnablePeerAccess");
  find(library, host_register, "cuMemHostRegister_v2");
  find(library, host_unregister, "cuMemHostUnregister");
  find(library, copy_in, "cuMemcpyHtoDAsync_v2");
  find(library, copy_out, "cuMemcpyDtoHAsync_v2");
  find(library, set_bytes, "cuMemsetD8Async");
  find(library, set_words, "cuMemsetD32Async");
  find(library, stream_create, "cuStreamCreate");
  find(library, stream_destroy, "cuStreamDestroy_v2");
  find(library, stream_query, "cuStreamQuery");
  find(library, stream_wait, "cuStreamSynchronize");
  find(library, link_create, "cuLinkCreate_v2");
  find(library, link_add, "cuLinkAddData_v2");
  find(library, link_complete, "cuLinkComplete");
  find(library, link_destroy, "cuLinkDestroy");
  find(library, module_load, "cuModuleLoadData");
  find(library, module_unload, "cuModuleUnload");
  find(library, module_function, "cuModuleGetFunction");
  function_load = reinterpret_cast<decltype(function_load)>(::dlsym(library, "cuFuncLoad"));
  find(library, module_global, "cuModuleGetGlobal_v2");
  find(library, function_attribute, "cuFuncGetAttribute");
  find(library, set_function_attribute, "cuFuncSetAttribute");
  encode_map = reinterpret_cast<decltype(encode_map)>(::dlsym(library, "cuTensorMapEncodeTiled"));
  find(library, launch_together, "cuLaunchCooperativeKernel");
  find(library, error_name, "cuGetErrorName");
  find(library, error_text, "cuGetErrorString");
  const Result result = init(0);
  if (result == 0) return;
  const char* name = nullptr;
  error_name(result, &name);
  throw Error(Code::unsupported, fmt::format("the driver of NVIDIA's GPUs does not start: {}",
                                             name == nullptr ? std::to_string(result) : name));
}

void Driver::check(const char* what, Result result) const {
  if (result == 0) return;
  const char* name = nullptr;
  const char* text = nullptr;
  error_name(result, &name);
  error_text(result, &text);
  constexpr Result kOutOfMemory = 2;
  throw Error(result == kOutOfMemory ? Code::out_of_memory : Code::system,
              fmt::format("{}: {} ({})", what, name == nullptr ? "an error without a name" : name,
                          text == nullptr ? "no text" : text));
}

}  // namespace baton::cuda
