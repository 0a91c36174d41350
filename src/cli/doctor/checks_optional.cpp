#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <optional>

#include <fmt/format.h>

#include <baton/platform.h>
#include <baton/error.hpp>
#include <baton/options.hpp>

#include "base/shared_library.hpp"
#include "cli/doctor/findings.hpp"
#include "job/launch/program_path.hpp"
#include "kernel/device_compiler.hpp"
#include "kernel/include_root.hpp"

namespace baton::cli {
namespace {

std::optional<std::string> find_first(std::initializer_list<const char*> programs) {
  const char* path = std::getenv("PATH");
  for (const char* program : programs) {
    try {
      return job::find_program(program, path != nullptr ? path : "/bin:/usr/bin");
    } catch (const Error&) {  // not there; the next may be
    }
  }
  return std::nullopt;
}

Finding check_program(std::string item, std::initializer_list<const char*> programs, std::string use,
                      std::string remedy) {
  const auto path = find_first(programs);
  if (path) return {.item = std::move(item), .verdict = Verdict::ok, .text = fmt::format("{}, {}", *path, use)};
  return {.item = std::move(item), .verdict = Verdict::missing, .text = fmt::format("{}; {}", use, remedy)};
}

Finding not_built_in(std::string item, std::string use, bool on_machine) {
  return {
      .item = std::move(item),
      .verdict = Verdict::missing,
      .text = fmt::format("{}; planned, not built in ({} on this machine)", use, on_machine ? "present" : "not found")};
}

/// Opens one: the driver, its version and the GPU itself are tried.
Finding check_gpu() {
  const std::filesystem::path bin = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const SharedLibrary library((bin.parent_path() / "lib/libbaton_cuda.so").string(), Code::unsupported);
  BatonDevice* device = nullptr;
  if (library.required<BatonDeviceOpen>("baton_device_open")(0, &device) != 0) {
    const std::string_view said = library.required<BatonPlatformLastError>("baton_platform_last_error")();
    return {.item = {}, .verdict = Verdict::missing, .text = std::string(said.substr(0, said.find('\n')))};
  }
  BatonDeviceDescription description{};
  static_cast<void>(library.required<BatonDeviceDescribe>("baton_device_describe")(device, &description));
  static_cast<void>(library.required<BatonDeviceClose>("baton_device_close")(device));
  return {.item = {},
          .verdict = Verdict::ok,
          .text = fmt::format("platform cuda runs kernels on it, {} clusters of cores", description.clusters)};
}

Finding check_nvcc() {
  const char* path = std::getenv("PATH");
  const kernel::Cache cache(options());
  const kernel::Compiler nvcc =
      kernel::find_nvcc(options(), path == nullptr ? "" : path, kernel::find_include_root(options().include_dir), cache,
                        Deadline::after(options().compile_timeout));
  return {.item = {},
          .verdict = Verdict::ok,
          .text = fmt::format("{}, compiles kernels for NVIDIA GPUs", nvcc.words.front())};
}

}  // namespace

std::vector<Finding> check_optional() {
  return {check_program("C++ compiler", {"c++", "g++", "clang++"}, "builds programs that use Baton",
                        "g++ 12 or clang++ 14 and later will do"),
          not_built_in("UCX", "ranks on several hosts", find_first({"ucx_info"}).has_value()),
          try_out("NVIDIA GPU", Need::optional, check_gpu),
          try_out("nvcc", Need::optional, check_nvcc),
          check_program("Open MPI", {"mpirun.openmpi", "ompi_info"}, "the benchmarks compare with it",
                        "not needed otherwise"),
          check_program("MPICH", {"mpirun.mpich", "mpichversion"}, "the benchmarks compare with it",
                        "not needed otherwise")};
}

}  // namespace baton::cli
