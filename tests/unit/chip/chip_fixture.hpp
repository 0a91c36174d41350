// A chip for tests.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tensor.h>
#include <baton/error.hpp>

#include "chip/completion/window_memory.hpp"
#include "chip/cores/sim/sim_cores.hpp"
#include "comm/backends/inproc/inproc_job.hpp"

namespace baton::chip {

/// A job of one rank in this process, and its memory.
struct LonelyChip {
  explicit LonelyChip(std::chrono::nanoseconds wait_timeout = std::chrono::seconds(20))
      : job(std::make_shared<inproc::Job>(1, "chip", comm::Hosting::threads)) {
    job->enter(0);
    world = std::make_shared<comm::World>(inproc::connect(job, 0), 0, "chip", wait_timeout);
    memory = std::make_unique<WindowMemory>(world);
  }
  std::shared_ptr<inproc::Job> job;
  std::shared_ptr<comm::World> world;
  std::unique_ptr<WindowMemory> memory;
};

inline ChipTensor tensor_over(WindowMemory& memory, std::vector<float>& data, const char* name) {
  memory.add_buffer(data.data(), data.size() * sizeof(float), name);
  ChipTensor tensor{};
  tensor.buffer = {reinterpret_cast<std::uint64_t>(data.data()), data.size() * sizeof(float)};
  tensor.ndims = 1;
  tensor.shapes[0] = static_cast<std::uint32_t>(data.size());
  tensor.strides[0] = 1;
  return tensor;
}

inline std::int64_t address(const void* pointer) { return reinterpret_cast<std::int64_t>(pointer); }

/// The code and message with which `call` fails on `cores`; Code::ok if it does not.
inline std::pair<Code, std::string> failure_of(SimCores& cores, int core, KernelCall& call) {
  cores.post(core, call);
  try {
    cores.wait(call, std::chrono::seconds(60));
  } catch (const Error& error) {
    return {error.code(), error.message()};
  }
  return {Code::ok, ""};
}

}  // namespace baton::chip
