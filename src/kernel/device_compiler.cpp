#include "kernel/device_compiler.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "base/fail.hpp"
#include "base/quote.hpp"
#include "kernel/ascend_compiler.hpp"
#include "kernel/build.hpp"

namespace baton::kernel {
namespace {

constexpr int kOldestNvcc = 13;

std::vector<std::string> usual_places(const std::string& search_path, const std::string& include_root) {
  std::vector<std::string> places;
  std::istringstream folders(search_path);
  for (std::string folder; std::getline(folders, folder, ':');) places.push_back(folder + "/nvcc");
  places.push_back((std::filesystem::path(include_root).parent_path() / "build/cuda/nvidia/cu13/bin/nvcc").string());
  places.emplace_back("/usr/local/cuda/bin/nvcc");
  return places;
}

/// Of "release 13.0"; 0 if it does not say.
int release_of(std::string_view version) {
  constexpr std::string_view kMark = "release ";
  const std::size_t at = version.find(kMark);
  int release = 0;
  if (at != std::string_view::npos) {
    std::from_chars(version.data() + at + kMark.size(), version.data() + version.size(), release);
  }
  return release;
}

}  // namespace

bool is_for_device(const std::string& platform) {
  if (platform == kCuda || is_ascend(platform)) return true;
  if (platform.empty() || platform.ends_with("sim")) return false;
  fail(Situation::no_such_platform, "kernels cannot be compiled for a platform {}", quote(platform));
}

Compiler find_nvcc(const Options& options, const std::string& search_path, const std::string& include_root,
                   const Cache& cache, const Deadline& deadline) {
  std::optional<std::string> chosen = options.nvcc;
  if (!chosen) {
    for (const std::string& place : usual_places(search_path, include_root)) {
      if (!is_there(place)) continue;
      chosen = place;
      break;
    }
  }
  if (!chosen || (chosen->find('/') != std::string::npos && !is_there(*chosen))) {
    throw Error(Code::unsupported,
                options.nvcc ? fmt::format("{}, which BATON_NVCC names, is not there", quote(*options.nvcc))
                             : "there is no nvcc, which compiles kernels for NVIDIA GPUs",
                {"`scripts/setup --cuda` installs one into a source tree of Baton; NVIDIA's toolkit has it, too",
                 "BATON_NVCC=/path/to/nvcc names another one"});
  }
  Compiler nvcc = find_compiler(chosen, search_path, cache, deadline);
  if (release_of(nvcc.identity) < kOldestNvcc) {
    throw Error(Code::unsupported, fmt::format("{} is older than release {}", nvcc.words.front(), kOldestNvcc),
                {"BATON_NVCC=/path/to/nvcc names another one"});
  }
  return nvcc;
}

std::vector<std::string> nvcc_flags(const CompileRequest& request, const Options& options,
                                    const std::string& include_root) {
  // Linked with others when it is loaded, under what runs graphs: no kernel may have more registers than a thread of a
  // core of 288 threads. A product and a sum are rounded each, as on the host.
  std::vector<std::string> flags = {"-std=c++20", "-O3",          "-rdc=true",         "-cubin",
                                    "-lineinfo",  "--fmad=false", "-maxrregcount=128", "-arch=" + options.cuda_arch};
  flags.emplace_back(request.core == CoreType::cube ? "-D__DAV_CUBE__" : "-D__DAV_VEC__");
  if (options.pipes == PipeOrder::strict) flags.emplace_back("-DPTO_STRICT_PIPES");
  for (const std::string& define : request.defines) flags.push_back("-D" + define);
  for (const std::string& folder : request.include_dirs) flags.push_back("-I" + absolute(folder));
  flags.insert(flags.end(), {"-I" + include_root + "/kernel", "-I" + include_root, "-include",
                             include_root + "/kernel/pto/target/cuda/stay.hpp"});
  return flags;
}

std::string sessions_source() { return "#include <pto/target/cuda/matrix_session.hpp>\n"; }

std::vector<std::string> sessions_flags(std::vector<std::string> flags) {
  // What runs graphs, which kernels bring, calls them in cores of 384 threads.
  std::ranges::replace(flags, "-maxrregcount=128", "-maxrregcount=168");
  const auto include = std::ranges::find(flags, "-include");
  if (include != flags.end()) flags.erase(include, include + 2);
  flags.emplace_back("-DPTO_MATRIX_SESSIONS");
  return flags;
}

std::string embedding_of(const std::string& image, const std::string& platform, std::uint32_t magic) {
  const std::string name = "baton_" + platform + "_image";
  return fmt::format(
      ".section .rodata.{0},\"a\"\n"
      ".balign 64\n"
      ".globl {0}\n"
      "{0}:\n"
      ".incbin \"{1}\"\n"
      ".globl {0}_end\n"
      "{0}_end:\n"
      ".balign 4\n"
      ".globl {0}_magic\n"
      "{0}_magic:\n"
      ".long {2}\n"
      ".section .note.GNU-stack,\"\",@progbits\n",
      name, image, magic);
}

}  // namespace baton::kernel
