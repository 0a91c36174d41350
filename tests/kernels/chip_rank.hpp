// A rank with a simulated chip, for scenarios: kernels compiled at run time, tensors, windows, calls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tensor.h>
#include <baton/domain.hpp>

#include "chip/completion/window_memory.hpp"
#include "chip/cores/sim/sim_cores.hpp"
#include "kernel/library.hpp"

namespace baton::test {

/// The kernel of sources/NAME.cpp, compiled (once per process; once on this machine, thanks to the cache) and bound to
/// simulated cores.
[[nodiscard]] BatonKernelFunction kernel_named(std::string_view name);

/// Numbers that kernels know as a tensor.
class HostTensor {
 public:
  HostTensor(chip::WindowMemory& memory, std::size_t count, std::string name);
  HostTensor(const HostTensor&) = delete;
  HostTensor& operator=(const HostTensor&) = delete;
  ~HostTensor();

  [[nodiscard]] float& operator[](std::size_t i) { return data_[i]; }
  [[nodiscard]] std::size_t size() const noexcept { return data_.size(); }
  [[nodiscard]] const ChipTensor& descriptor() const noexcept { return tensor_; }
  /// The argument by which a kernel receives it.
  [[nodiscard]] std::int64_t argument() const { return reinterpret_cast<std::int64_t>(&tensor_); }

 private:
  chip::WindowMemory& memory_;
  std::vector<float> data_;
  ChipTensor tensor_{};
};

/// The chip of one rank.
class ChipRank {
 public:
  explicit ChipRank(const Domain& me, int clusters = 1);

  [[nodiscard]] chip::WindowMemory& memory() noexcept { return memory_; }
  [[nodiscard]] chip::SimCores& cores() noexcept { return cores_; }

  /// Runs one kernel on the first vector core to its end; throws what went wrong in it.
  void run(const char* kernel, const std::vector<std::int64_t>& arguments);
  /// Runs `blocks` blocks of a kernel, each on a vector core of its own.
  void run_blocks(const char* kernel, const std::vector<std::int64_t>& arguments, int blocks);

 private:
  void wait_for_end(chip::KernelCall& call);

  chip::WindowMemory memory_;
  chip::SimCores cores_;
};

template <class T>
[[nodiscard]] std::int64_t argument(const T* pointer) {
  return reinterpret_cast<std::int64_t>(pointer);
}

}  // namespace baton::test
