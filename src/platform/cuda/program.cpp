#include "platform/cuda/program.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <baton/error.hpp>

namespace baton::cuda {
namespace {

/// What runs graphs, which every image of kernels brings; the last one those for cube cores.
struct Functions {
  const char* run_graph;
  const char* stay;
  const char* run_matrix_graph;
};
/// baton::cuda::run_graph<0>(Run), stay<0>(Stay), run_matrix_graph<0>(Run); with strict pipes <1>.
constexpr Functions kUsual = {"_ZN5baton4cuda9run_graphILi0EEEvNS0_3RunE", "_ZN5baton4cuda4stayILi0EEEvNS0_4StayE",
                              "_ZN5baton4cuda16run_matrix_graphILi0EEEvNS0_3RunE"};
constexpr Functions kStrict = {"_ZN5baton4cuda9run_graphILi1EEEvNS0_3RunE", "_ZN5baton4cuda4stayILi1EEEvNS0_4StayE",
                               "_ZN5baton4cuda16run_matrix_graphILi1EEEvNS0_3RunE"};
/// baton::cuda::tell_time<0>(ClockWords*).
constexpr const char* kTellTime = "_ZN5baton4cuda9tell_timeILi0EEEvPNS0_10ClockWordsE";
constexpr const char* kTable = "baton_cuda_functions";

/// A table of the functions' addresses, which only code of the device knows.
std::string table_of(const SharedGpu& gpu, std::span<const LoadedKernel* const> kernels) {
  std::string declared;
  std::string listed;
  for (const LoadedKernel* kernel : kernels) {
    declared += fmt::format(".extern .func {} (.param .b64 args);\n", kernel->symbol);
    listed += (listed.empty() ? "" : ", ") + kernel->symbol;
  }
  return fmt::format(".version 8.0\n.target {}\n.address_size 64\n{}.visible .global .align 8 .u64 {}[{}] = {{{}}};\n",
                     gpu.architecture(), declared, kTable, kernels.size(), listed);
}

/// Links while it lives; what it made is gone with it.
class Linker {
 public:
  Linker() {
    std::array<JitOption, 2> names = {JitOption::error_text, JitOption::error_text_bytes};
    std::array<void*, 2> values = {log_.data(), reinterpret_cast<void*>(log_.size())};
    driver_.check("linking kernels", driver_.link_create(names.size(), names.data(), values.data(), &state_));
  }
  Linker(const Linker&) = delete;
  Linker& operator=(const Linker&) = delete;
  ~Linker() { driver_.link_destroy(state_); }

  void add(JitInput type, const void* data, std::size_t bytes, const std::string& name) {
    check(name, driver_.link_add(state_, type, const_cast<void*>(data), bytes, name.c_str(), 0, nullptr, nullptr));
  }
  [[nodiscard]] const void* finish() {
    void* image = nullptr;
    std::size_t bytes = 0;
    check("the program", driver_.link_complete(state_, &image, &bytes));
    return image;
  }

 private:
  void check(const std::string& what, Result result) const {
    if (result == 0) return;
    const char* name = nullptr;
    driver_.error_name(result, &name);
    throw Error(Code::not_a_kernel,
                fmt::format("the code for NVIDIA GPUs in {} cannot be linked: {}", what, name == nullptr ? "?" : name),
                {log_.data()});
  }

  const Driver& driver_ = Driver::get();
  std::array<char, 4096> log_{};
  LinkState state_ = nullptr;
};

bool has_strict_pipes(const Image& image) { return image.has(kStrict.run_graph); }

/// What runs graphs is the same for all kernels of a program.
void refuse_mixture(const Image& one, const Image& other) {
  const Image& strict = has_strict_pipes(one) ? one : other;
  const Image& usual = has_strict_pipes(one) ? other : one;
  throw Error(Code::unsupported,
              fmt::format("{} is compiled for strict pipes, {} is not: a GPU runs kernels of one kind", strict.path(),
                          usual.path()),
              {"BATON_PIPES=strict, or its absence, has to be the same whenever kernels are compiled"});
}

}  // namespace

Program::Program(const SharedGpu& gpu, std::span<const LoadedKernel* const> kernels)
    : is_strict_(!kernels.empty() && has_strict_pipes(*kernels.front()->image)) {
  const Functions& functions_of_cores = is_strict_ ? kStrict : kUsual;
  for (const LoadedKernel* kernel : kernels) {
    if (has_strict_pipes(*kernel->image) != is_strict_) refuse_mixture(*kernels.front()->image, *kernel->image);
  }
  const Driver& driver = Driver::get();
  Linker linker;
  std::set<const Image*> added;
  bool has_sessions = false;
  for (const LoadedKernel* kernel : kernels) {
    const Image& image = *kernel->image;
    if (!added.insert(&image).second) continue;
    linker.add(JitInput::cubin, image.data(), image.bytes(), image.path());
    // All bring the same.
    if (image.sessions() && !std::exchange(has_sessions, true)) {
      linker.add(JitInput::cubin, image.sessions()->data(), image.sessions()->bytes(), image.path());
    }
  }
  const std::string table = table_of(gpu, kernels);
  linker.add(JitInput::ptx, table.c_str(), table.size() + 1, "the table of kernels");
  driver.check("loading kernels", driver.module_load(&module_, linker.finish()));
  run_graph_ = find(gpu, functions_of_cores.run_graph);
  stay_ = find(gpu, functions_of_cores.stay);
  tell_time_ = find(gpu, kTellTime);
  const char* const matrix = functions_of_cores.run_matrix_graph;
  const auto is_for_cubes = [matrix](const LoadedKernel* kernel) { return kernel->image->has(matrix); };
  if (std::ranges::any_of(kernels, is_for_cubes)) run_matrix_graph_ = find(gpu, matrix);
  DevicePointer functions = 0;
  std::size_t bytes = 0;
  driver.check("finding kernels", driver.module_global(&functions, &bytes, module_, kTable));
  std::vector<std::uint64_t> addresses(kernels.size());
  driver.check("reading the table of kernels", driver.copy_out(addresses.data(), functions, bytes, nullptr));
  driver.check("reading the table of kernels", driver.stream_wait(nullptr));
  for (std::size_t i = 0; i < kernels.size(); ++i) addresses_.emplace(kernels[i], addresses[i]);
}

Function Program::find(const SharedGpu& gpu, const char* name) const {
  const Driver& driver = Driver::get();
  Function found = nullptr;
  driver.check("finding what runs graphs", driver.module_function(&found, module_, name));
  // Now, not at the first launch: kernels of other chips may run then.
  if (driver.function_load != nullptr) driver.check("loading what runs graphs", driver.function_load(found));
  // A chip says how much of it its cores get.
  driver.check("giving cores their memory",
               driver.set_function_attribute(found, FunctionAttribute::shared_bytes,
                                             gpu.attribute(DeviceAttribute::shared_bytes_with_consent)));
  constexpr int kAllOfIt = 100;
  driver.check("giving cores their memory",
               driver.set_function_attribute(found, FunctionAttribute::shared_percent, kAllOfIt));
  return found;
}

Program::~Program() {
  if (module_ != nullptr) Driver::get().module_unload(module_);
}

}  // namespace baton::cuda
