// A window: memory of the GPU of each member, which kernels of all members reach.
#pragma once

#include <cstddef>
#include <cstdint>

#include <baton/platform.h>

#include "platform/cuda/gpu.hpp"
#include "platform/shared/group.hpp"

namespace baton::cuda {

class Window {
 public:
  /// Collective over the group, whose chips are of one process. Zeroed. `parts` receives the parts of all, by rank.
  Window(Gpu& gpu, const BatonGroup& group, std::size_t bytes, std::uint64_t* parts);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window();

 private:
  void open(const platforms::Group& group, std::size_t bytes, std::uint64_t* parts);

  Gpu& gpu_;
  DevicePointer own_ = 0;
};

}  // namespace baton::cuda
