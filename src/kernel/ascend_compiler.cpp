#include "kernel/ascend_compiler.hpp"

#include <filesystem>
#include <sstream>

#include "base/fail.hpp"
#include "kernel/build.hpp"

namespace baton::kernel {
namespace {

constexpr std::string_view kA5 = "a5";
/// Of the arguments of one block: 512 bytes, as the platform lays them out.
constexpr int kSlotsOfBlock = 64;
constexpr std::string_view kArchitecture = "--cce-aicore-arch=";

/// Behind the family; both kinds of cores in one step have none.
std::string_view suffix_of(CoreType core) noexcept {
  switch (core) {
    case CoreType::vector: return "-vec";
    case CoreType::cube: return "-cube";
    case CoreType::cluster: return "";
  }
  return "";
}

}  // namespace

bool is_ascend(std::string_view platform) noexcept { return platform == "a2a3" || platform == kA5; }

Compiler find_ccec(const std::string& search_path, const Cache& cache, const Deadline& deadline) {
  std::istringstream folders(search_path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string path = folder + "/ccec";
    if (!is_there(path)) continue;
    Compiler ccec = find_compiler(path, search_path, cache, deadline);
    if (!is_there(linker_of(ccec))) {
      throw Error(Code::unsupported, fmt::format("{} has no linker beside it: there is no {}", path, linker_of(ccec)),
                  {"both are in the compiler's folder of CANN"});
    }
    return ccec;
  }
  throw Error(Code::unsupported, "there is no ccec on the PATH, which compiles kernels for Ascend chips",
              {"it is a part of CANN, whose set_env.sh puts it on the PATH"});
}

std::string linker_of(const Compiler& ccec) {
  return (std::filesystem::path(ccec.words.front()).parent_path() / "ld.lld").string();
}

std::vector<std::string> ccec_flags(const CompileRequest& request, const std::string& include_root) {
  const bool a5 = request.platform == kA5;
  std::vector<std::string> flags = {
      "-c", "-O3", "-std=c++17", "--cce-aicore-only",
      fmt::format("{}dav-{}{}", kArchitecture, a5 ? "c310" : "c220", suffix_of(request.core))};
  for (const char* option :
       {"-cce-aicore-stack-size=0x8000", "-cce-aicore-function-stack-size=0x8000", "-cce-aicore-record-overflow=false",
        "-cce-aicore-addr-transform", "-cce-aicore-dcci-insert-for-scalar=false"}) {
    flags.insert(flags.end(), {"-mllvm", option});
  }
  if (a5) flags.insert(flags.end(), {"-mllvm", "-cce-vf-aa-between-iters=true"});
  flags.insert(flags.end(), {"-DMEMORY_BASE", "-DBATON_FOR_ASCEND"});
  for (const std::string& define : request.defines) flags.push_back("-D" + define);
  for (const std::string& folder : request.include_dirs) flags.push_back("-I" + absolute(folder));
  flags.insert(flags.end(), {"-I" + include_root + "/kernel", "-I" + include_root});
  return flags;
}

std::vector<std::string> flags_for(CoreType core, std::vector<std::string> flags) {
  for (std::string& flag : flags) {
    if (!flag.starts_with(kArchitecture)) continue;
    constexpr std::size_t kFamily = std::string_view("dav-c220").size();
    flag.resize(kArchitecture.size() + kFamily);
    flag += suffix_of(core);
  }
  return flags;
}

std::uint32_t magic_of(CoreType core) noexcept {
  switch (core) {
    case CoreType::vector: return 0x41415246;
    case CoreType::cube: return 0x41494343;
    case CoreType::cluster: return 0x43554245;
  }
  return 0;
}

std::string entries_for(const std::string& source, const std::vector<std::string>& functions, CoreType core) {
  // What is registered is the host's: a chip finds functions by their names.
  std::string text = fmt::format(
      "#include <baton/kernel_abi.hpp>\n#undef BATON_KERNEL_ENTRY\n#define BATON_KERNEL_ENTRY(name)\n#include \"{}\"\n",
      source);
  // Of a cluster: which of its cores this is, the cube core first.
  if (core == CoreType::cluster) {
    text +=
        "#if defined(__DAV_CUBE__)\n#define BATON_CORE_OF_CLUSTER 0\n"
        "#else\n#define BATON_CORE_OF_CLUSTER (1 + get_subblockid())\n#endif\n";
  }
  const std::string_view place =
      core == CoreType::cluster ? "(3 * get_block_idx() + BATON_CORE_OF_CLUSTER)" : "get_block_idx()";
  for (const std::string& name : functions) {
    // Declared once more: its author may have put it into a namespace.
    text += fmt::format(
        "extern \"C\" __aicore__ void {0}(__gm__ int64_t* args);\n"
        "extern \"C\" __global__ __aicore__ void baton_launch_{0}(__gm__ int64_t* args) {{\n"
        "  ::{0}(args + {1} * {2});\n}}\n"
        "extern \"C\" __global__ __aicore__ void baton_tell_{0}(__gm__ int64_t* args) {{\n"
        "  *args = reinterpret_cast<int64_t>(&::{0});\n"
        "  dcci(args, ENTIRE_DATA_CACHE, CACHELINE_OUT);\n"
        "  dsb(DSB_DDR);\n}}\n",
        name, place, kSlotsOfBlock);
  }
  return text;
}

}  // namespace baton::kernel
