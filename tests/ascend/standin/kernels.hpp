// Binaries and kernels of the stand-in.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "state.hpp"

namespace standin {

/// Code for one kind of core: a library of this host, which the compiler's stand-in made.
struct Side {
  std::shared_ptr<void> library;
  int* stop = nullptr;
  void (*enter)(std::int64_t*) = nullptr;  // runs an entry of the library: see compiler/device.hpp
};

/// What aclrtBinaryLoadFromData took.
struct Binary {
  std::uint64_t context = 0;
  std::uint32_t magic = 0;  // which cores it is for
  std::vector<Side> sides;  // of clusters: that of vector cores, and that of the cube core
};

struct Function {
  std::shared_ptr<Binary> binary;
  std::array<void (*)(std::int64_t*), 2> entries{};  // by side
  std::string name;
};

/// Whether kernels of a context that wait for a signal fail.
enum class Kernels : int { go_on, stop };
void stop_kernels(State& state, std::uint64_t context, Kernels what);

/// The simulated cores of a stream end with its thread.
void end_executor_of_thread();

}  // namespace standin
