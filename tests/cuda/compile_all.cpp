// Compiles all kernels that the tests of platform cuda, and bench/cuda, use, as many at once as there are processors:
// each takes many seconds, and a test would wait for one after the other. With the argument "strict" those that are
// compiled for strict pipes. Without a GPU only with the argument "anyway".
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <baton/error.hpp>
#include <baton/kernel_source.hpp>

#include "collectives/graph/device_kernels.hpp"
#include "gpu_here.hpp"

namespace {

using baton::Algorithm;
using baton::Element;
using baton::KernelSource;
using baton::collectives::DeviceTask;
using baton::collectives::Operation;

KernelSource file(const char* name, std::vector<std::string> defines = {}) {
  return {.source = std::string(CUDA_SOURCES) + name, .platform = "cuda", .defines = std::move(defines)};
}

KernelSource cube_file(const char* name, std::vector<std::string> defines) {
  KernelSource source = file(name, std::move(defines));
  source.core = BATON_CORE_CUBE;
  return source;
}

KernelSource collective(const DeviceTask& task) {
  baton::collectives::DeviceKernelSource source = source_of(task);
  return {.source = source.name + ".cpp", .text = std::move(source.text), .platform = "cuda"};
}

/// Those of cuda_faults and cuda_strict.
std::vector<KernelSource> with_strict_pipes() {
  return {file("tests/cuda/kernels.cpp"), file("tests/unit/chip/order_kernels.cpp"),
          cube_file("tests/unit/chip/order_kernels.cpp", {})};
}

/// What takes longest comes first: nothing else takes as long.
std::vector<KernelSource> all() {
  std::vector<KernelSource> sources = {
      file("examples/allreduce/allreduce.cpp"),
      file("tests/cuda/kernels.cpp"),
      file("tests/cuda/row_kernels.cpp"),
      file("tests/cuda/cluster_kernels.cpp"),
      cube_file("tests/cuda/cluster_kernels.cpp", {}),
      file("tests/cuda/talk_kernels.cpp"),
      file("tests/cuda/decoder_kernels.cpp"),
  };
  for (const char* const element : {"bfloat16_t", "half"}) {
    for (const char* const name : {"tests/cuda/matmul_kernels.cpp", "tests/cuda/matrix_kernels.cpp"}) {
      sources.push_back(cube_file(name, {std::string("ELEMENT=") + element}));
    }
  }
  for (const Algorithm algorithm : {Algorithm::one_phase, Algorithm::mesh}) {
    sources.push_back(
        collective({.operation = Operation::allreduce, .algorithm = algorithm, .element = Element::float32}));
  }
  for (const Operation operation :
       {Operation::reduce_scatter, Operation::allgather, Operation::all_to_all, Operation::broadcast}) {
    sources.push_back(collective({.operation = operation, .element = Element::float32}));
  }
  for (const DeviceTask::Kind kind : {DeviceTask::Kind::message, DeviceTask::Kind::all_to_all_v}) {
    sources.push_back(collective({.kind = kind, .element = Element::float32}));
  }
  sources.push_back(collective({.kind = DeviceTask::Kind::barrier}));
  const std::string scenarios = "tests/kernels/sources";
  for (const auto& entry : std::filesystem::directory_iterator(CUDA_SOURCES + scenarios)) {
    if (entry.path().extension() != ".cpp") continue;
    KernelSource source = file((scenarios + "/" + entry.path().filename().string()).c_str());
    source.include_dirs = {CUDA_SOURCES + scenarios};
    sources.push_back(std::move(source));
  }
  sources.push_back(file("tests/cuda/row_kernels.cpp", {"ROWS=8"}));
  sources.push_back(file("tests/cuda/row_kernels.cpp", {"ROWS=4"}));
  sources.push_back(file("tests/cuda/row_kernels.cpp", {"ROWS=2"}));
  sources.push_back(file("tests/cuda/kernels.cpp", {"PTO_NO_CHECKS"}));
  sources.push_back(cube_file("tests/cuda/matmul_kernels.cpp", {}));
  sources.push_back(cube_file("tests/cuda/matmul_kernels.cpp", {"PTO_NO_CHECKS"}));
  sources.push_back(file("bench/cuda/expert_kernels.cpp"));
  return sources;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const auto asked_for = [&](std::string_view word) {
    return std::any_of(arguments + 1, arguments + argument_count, [word](const char* one) { return word == one; });
  };
  const bool anyway = asked_for("anyway");
  const bool strict = asked_for("strict");
  // Before anybody asks for the options of this process.
  if (strict) ::setenv("BATON_PIPES", "strict", 1);
  if (const auto& why = baton::test::missing_gpu(); why && !anyway) {
    std::printf("nothing is compiled: %s\n", why->c_str());
    return 0;
  }
  const std::vector<KernelSource> sources = strict ? with_strict_pipes() : all();
  std::atomic<std::size_t> next{0};
  std::atomic<int> failed{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < sources.size(); i = next++) {
      try {
        static_cast<void>(baton::KernelFile::compile(sources[i]));
        std::printf("%s\n", sources[i].source.c_str());
      } catch (const baton::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        ++failed;
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return failed == 0 ? 0 : 1;
}
