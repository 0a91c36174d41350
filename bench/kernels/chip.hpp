// A simulated chip that runs one kernel at a time, and tensors for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <tensor.h>
#include <baton/join.hpp>
#include <baton/kernel_abi.hpp>

#include "chip/completion/window_memory.hpp"
#include "chip/cores/sim/sim_cores.hpp"
#include "comm/domain_state.hpp"

namespace bench {

class Chip {
 public:
  Chip()
      : me_(baton::join()),
        memory_(baton::comm::DomainAccess::state(me_)->world_pointer()),
        cores_(baton::chip::profile_named("a2a3sim"), {.clusters = 1, .threads = 1}, memory_) {}

  [[nodiscard]] baton::chip::WindowMemory& memory() { return memory_; }

  /// Runs `kernel` to its end on the core it is for.
  void run(const BatonKernelEntry& kernel, std::initializer_list<std::int64_t> arguments) {
    baton::chip::KernelCall call;
    call.entry = kernel.function;
    call.name = kernel.name;
    std::copy(arguments.begin(), arguments.end(), call.args.begin());
    cores_.post(kernel.core == BATON_CORE_CUBE ? cores_.cube(0) : cores_.vector(0, 0), call);
    cores_.wait(call);
  }

 private:
  baton::Domain me_;
  baton::chip::WindowMemory memory_;
  baton::chip::SimCores cores_;
};

/// Floats that kernels know, of one dimension or two.
class Tensor {
 public:
  Tensor(Chip& chip, std::uint32_t rows, std::uint32_t cols) : data_(std::size_t{rows} * cols) {
    chip.memory().add_buffer(data_.data(), data_.size() * sizeof(float), "tensor");
    tensor_.buffer = {reinterpret_cast<std::uint64_t>(data_.data()), data_.size() * sizeof(float)};
    tensor_.ndims = 2;
    tensor_.shapes[0] = rows;
    tensor_.shapes[1] = tensor_.strides[0] = cols;
    tensor_.strides[1] = 1;
  }
  [[nodiscard]] std::vector<float>& data() { return data_; }
  [[nodiscard]] std::int64_t argument() const { return reinterpret_cast<std::int64_t>(&tensor_); }

 private:
  std::vector<float> data_;
  ChipTensor tensor_{};
};

}  // namespace bench
