// The least that tile instructions can cost on this machine: loops over vectors, memcpy, dlopen.
#include <dlfcn.h>

#include <cstring>
#include <numeric>

#include <tensor.h>
#include <support/contend.hpp>
#include <support/measure.hpp>

#include "kernels/compiled.hpp"

// Kernels here need no core.
extern "C" BatonCore* baton_core_current() { return nullptr; }

namespace {

using bench::Arguments;

template <class Work>
void measure_work(const Arguments& arguments, Work&& work) {
  const auto run = [&](std::int64_t n) {
    const auto start = bench::Clock::now();
    work(n);
    return bench::nanoseconds_since(start);
  };
  bench::print(bench::measure(arguments.budget, run, [](double x) { return x; }));
}

/// Compiled like a kernel, with the same flags.
void loop(const Arguments& arguments) {
  Arguments unchecked = arguments;
  unchecked.method = "unchecked";
  const auto library = bench::compiled("loop_add", unchecked);
  std::vector<float> out(arguments.bytes / sizeof(float));
  ChipTensor tensor{};
  tensor.buffer = {reinterpret_cast<std::uint64_t>(out.data()), arguments.bytes};
  const auto function = library.entry("loop_add");
  measure_work(arguments, [&](std::int64_t n) {
    std::int64_t args[50] = {reinterpret_cast<std::int64_t>(&tensor), n};
    function(args);
  });
  for (const float x : out) bench::require(x == 3.75F, "a wrong sum");
}

/// The loops beside the sorting instructions.
void sorting(const Arguments& arguments) {
  Arguments unchecked = arguments;
  unchecked.method = "unchecked";
  const auto library = bench::compiled("loop_sorting", unchecked);
  std::vector<float> out(2 * arguments.bytes / sizeof(float));
  ChipTensor tensor{};
  tensor.buffer = {reinterpret_cast<std::uint64_t>(out.data()), 2 * arguments.bytes};
  const auto function = library.entry(arguments.operation);
  measure_work(arguments, [&](std::int64_t n) {
    std::int64_t args[50] = {reinterpret_cast<std::int64_t>(&tensor), n};
    function(args);
  });
}

void copy(const Arguments& arguments) {
  std::vector<char> from(arguments.bytes), to(arguments.bytes);
  std::iota(from.begin(), from.end(), 0);
  measure_work(arguments, [&](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      std::memcpy(to.data(), from.data(), arguments.bytes);
      __asm__ __volatile__("" ::: "memory");
    }
  });
  bench::require(from == to, "a wrong byte");
}

void open_library(const Arguments& arguments) {
  const std::string path =
      baton::kernel::compile(bench::request_for("tadd", arguments), bench::cache_options()).library;
  measure_work(arguments, [&](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      bench::require(handle != nullptr && dlsym(handle, "baton_kernel_tadd") != nullptr, "dlopen failed");
      dlclose(handle);
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::contend(argc, argv,
                        {{"loop", loop},
                         {"copy", copy},
                         {"dlopen", open_library},
                         {"loop_sort", sorting},
                         {"loop_merge", sorting},
                         {"loop_gather", sorting}});
}
