// A platform's library: found, loaded, checked, its functions resolved.
#pragma once

#include <string>
#include <vector>

#include <baton/platform.h>
#include <baton/memory_place.hpp>

#include "base/shared_library.hpp"

namespace baton::platform {

/// Where the library of a platform may be: beside this one, in lib/ beside bin/, and in the
/// folders of LD_LIBRARY_PATH.
[[nodiscard]] std::vector<std::string> candidates(const std::string& platform);

class PlatformLibrary {
 public:
  /// `platform` is a name, or a path with a slash. Throws Error (unsupported).
  explicit PlatformLibrary(const std::string& platform);

  [[nodiscard]] const std::string& path() const noexcept { return library_.path(); }
  [[nodiscard]] bool has(const char* function) const noexcept { return library_.find(function) != nullptr; }

  /// Throws Error with the code `status` and the platform's message unless it is 0.
  void check(const char* function, int status) const;
  [[nodiscard]] MemoryPlace memory_place(BatonDevice* device) const;

 private:
  SharedLibrary library_;

 public:
  BatonPlatformLastError* last_error;
  BatonDeviceOpen* open;
  BatonDeviceClose* close;
  BatonDeviceAlloc* alloc;
  BatonDeviceFree* free;
  BatonDeviceCopyIn* copy_in;
  BatonDeviceCopyOut* copy_out;
  BatonDeviceLoadKernel* load_kernel;
  BatonDeviceDescribe* describe;
  BatonGraphMake* graph_make;
  BatonGraphSet* graph_set;
  BatonGraphRun* graph_run;
  BatonGraphFree* graph_free;
  OptionalFunction<BatonDeviceAttachComm> attach_comm;
  OptionalFunction<BatonDeviceStream> stream;
  OptionalFunction<BatonDeviceSetClusters> set_clusters;
  OptionalFunction<BatonDeviceDlpack> dlpack;
  OptionalFunction<BatonWindowOpen> window_open;
  OptionalFunction<BatonWindowLeave> window_leave;
  OptionalFunction<BatonWindowClose> window_close;
  OptionalFunction<BatonDeviceOpenPart> open_part;
  OptionalFunction<BatonStreamBegin> stream_begin;
  OptionalFunction<BatonStreamSubmit> stream_submit;
  OptionalFunction<BatonStreamWait> stream_wait;
  OptionalFunction<void*(int, int, void*, const char*)> comm_init;
  OptionalFunction<int(void*, size_t, uint64_t*)> comm_alloc_windows;
  OptionalFunction<int(void*, uint64_t*)> comm_get_local_window_base;
  OptionalFunction<int(void*, size_t*)> comm_get_window_size;
  OptionalFunction<int(void*)> comm_barrier;
  OptionalFunction<int(void*)> comm_destroy;
  OptionalFunction<const char*()> comm_last_error;
};

}  // namespace baton::platform
