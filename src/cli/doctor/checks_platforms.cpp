// Whether there are chips of a platform that is not simulated, and what compiles kernels for them.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include <baton/platform.h>
#include <baton/error.hpp>
#include <baton/options.hpp>

#include "base/fail.hpp"
#include "base/quote.hpp"
#include "base/shared_library.hpp"
#include "cli/doctor/findings.hpp"
#include "kernel/ascend_compiler.hpp"
#include "kernel/device_compiler.hpp"
#include "kernel/include_root.hpp"

namespace baton::cli {
namespace {

/// A platform, what its devices are, and who compiles for them.
struct Known {
  std::string_view name;
  const char* device;
  const char* windows;  // what lets several of them talk; null: nothing that could be missing
  const char* compiler;
  kernel::Compiler (*find)(const kernel::Cache& cache);
};

std::string search_path() {
  const char* path = std::getenv("PATH");
  return path == nullptr ? "" : path;
}

kernel::Compiler find_nvcc(const kernel::Cache& cache) {
  return kernel::find_nvcc(options(), search_path(), kernel::find_include_root(options().include_dir), cache,
                           Deadline::after(options().compile_timeout));
}

kernel::Compiler find_ccec(const kernel::Cache& cache) {
  return kernel::find_ccec(search_path(), cache, Deadline::after(options().compile_timeout));
}

constexpr Known kKnown[] = {{"cuda", "NVIDIA GPU", nullptr, "nvcc", find_nvcc},
                            {"a2a3", "Ascend A2, A3", "HCCL", "ccec", find_ccec},
                            {"a5", "Ascend A5", "HCCL", "ccec", find_ccec}};

/// What the platform says is wrong, without the advice to ask this very command.
Finding missing(const SharedLibrary& library) {
  std::string text = library.required<BatonPlatformLastError>("baton_platform_last_error")();
  text.resize(std::min(text.find("\n  try: "), text.size()));
  return {.item = {}, .verdict = Verdict::missing, .text = std::move(text)};
}

SharedLibrary library_of(const Known& known) {
  const std::filesystem::path bin = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto file = bin.parent_path() / fmt::format("lib/libbaton_{}.so", known.name);
  if (!std::filesystem::exists(file)) {
    fail(Code::unsupported, "this Baton was built without platform {}; `make` builds all of them", known.name);
  }
  return SharedLibrary(file.string(), Code::unsupported);
}

/// Opens one: the libraries of the vendor, their version and the device itself are tried.
Finding check_device(const Known& known) {
  const SharedLibrary library = library_of(known);
  BatonDevice* device = nullptr;
  if (library.required<BatonDeviceOpen>("baton_device_open")(0, &device) != 0) return missing(library);
  BatonDeviceDescription description{};
  static_cast<void>(library.required<BatonDeviceDescribe>("baton_device_describe")(device, &description));
  static_cast<void>(library.required<BatonDeviceClose>("baton_device_close")(device));
  return {
      .item = {},
      .verdict = Verdict::ok,
      .text = fmt::format("platform {} runs kernels on it, {} clusters of cores", known.name, description.clusters)};
}

/// What several chips need to talk.
Finding check_windows(const Known& known) {
  const SharedLibrary library = library_of(known);
  if (library.required<BatonDeviceCheckWindows>("baton_device_check_windows")(nullptr) != 0) return missing(library);
  return {.item = {},
          .verdict = Verdict::ok,
          .text = fmt::format("chips of platform {} can have windows together", known.name)};
}

Finding check_compiler(const Known& known) {
  const kernel::Cache cache(options());
  return {.item = {},
          .verdict = Verdict::ok,
          .text = fmt::format("{}, compiles kernels for platform {}", known.find(cache).words.front(), known.name)};
}

}  // namespace

std::vector<Finding> check_platform(std::string_view name) {
  std::string names;
  for (const Known& known : kKnown) {
    names += (names.empty() ? "" : ", ") + std::string(known.name);
    if (known.name != name) continue;
    std::vector<Finding> findings = {try_out(known.device, Need::optional, [&] { return check_device(known); })};
    if (known.windows != nullptr) {
      findings.push_back(try_out(known.windows, Need::optional, [&] { return check_windows(known); }));
    }
    findings.push_back(try_out(known.compiler, Need::optional, [&] { return check_compiler(known); }));
    return findings;
  }
  fail(Situation::unknown_choice, "{} is not a platform of devices; there are {}", quote(name), names);
}

}  // namespace baton::cli
