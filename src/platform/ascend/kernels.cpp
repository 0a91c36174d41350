#include "platform/ascend/kernels.hpp"

#include <cstring>

#include <fmt/format.h>

#include <baton/kernel_handle.hpp>

#include "platform/ascend/generation.hpp"
#include "platform/ascend/npu.hpp"

namespace baton::ascend {
namespace {

// What the loader knows kernels of vector cores by.
constexpr std::uint32_t kVectorMagic = 0x41415246;

/// The slot behind the arguments of a core in which its kernel's address is: see ArgumentBlock.
constexpr const char* kCaller = R"(
#include <cstdint>
extern "C" __aicore__ void call_kernel(__gm__ int64_t* args) {
  const int64_t kernel = args[59];
  if (kernel != 0) reinterpret_cast<void (*)(__gm__ int64_t*)>(kernel)(args);
}
)";
constexpr const char* kCallerName = "call_kernel";

const char* word_for(Kind kind) { return kind == Kind::cube ? "cube" : "vector"; }

/// The core that the author of a typed kernel has chosen, who may have kernels for both in one source.
std::optional<Kind> chosen_core(const platforms::EmbeddedCode& code, const std::string& name) {
  const auto* const handle = static_cast<const Kernel*>(code.symbol("baton_kernel_handle_" + name));
  if (handle == nullptr) return std::nullopt;
  return handle->core == BATON_CORE_CUBE ? Kind::cube : Kind::vector;
}

}  // namespace

Kernels::Binary& Kernels::binary_of(const std::string& path, std::optional<Kind> wanted) {
  constexpr const char* kCube = "_cube";
  std::string kind;
  if (wanted == Kind::cube && binary_of(path, std::nullopt).kind == Kind::vector) kind = kCube;
  if (const auto found = binaries_.find({path, kind}); found != binaries_.end()) return found->second;
  platforms::EmbeddedCode code(path, kGeneration.platform, kind);
  const std::string symbol = fmt::format("baton_{}{}_image_magic", kGeneration.platform, kind);
  const void* const magic = code.symbol(symbol);
  if (magic == nullptr) throw Error(Code::not_a_kernel, fmt::format("{} lacks {}", path, symbol));
  LoadOptions::Option option;
  std::memcpy(&option.magic, magic, sizeof option.magic);
  const LoadOptions options{&option, 1};
  const Cann& cann = Cann::get();
  Handle handle = nullptr;
  cann.check("aclrtBinaryLoadFromData", cann.aclrtBinaryLoadFromData(code.data(), code.bytes(), &options, &handle));
  const Kind cores = option.magic == kVectorMagic ? Kind::vector : Kind::cube;
  return binaries_.emplace(std::pair(path, kind), Binary{std::move(code), handle, cores}).first->second;
}

std::unique_ptr<LoadedKernel> Kernels::loaded(const Binary& binary, const std::string& name) const {
  // The host's side of the library knows which names there are: a typed kernel is known by the longer one.
  std::string symbol = "baton_kernel_" + name;
  if (binary.code.symbol(symbol) == nullptr) symbol = name;
  if (binary.code.symbol(symbol) == nullptr) {
    throw Error(Code::not_a_kernel, fmt::format("{} has no kernel '{}'", binary.code.path(), name));
  }
  const Cann& cann = Cann::get();
  Handle function = nullptr;
  const std::string entry = "baton_launch_" + symbol;
  cann.check("aclrtBinaryGetFunction", cann.aclrtBinaryGetFunction(binary.handle, entry.c_str(), &function));
  const bool may_defer = binary.code.symbol("baton_kernels_may_defer") != nullptr;
  return std::make_unique<LoadedKernel>(
      LoadedKernel{function, name, binary.kind, may_defer, binary.handle, std::move(symbol)});
}

LoadedKernel* Kernels::load(const std::string& path, const std::string& name) {
  std::unique_ptr<LoadedKernel>& kernel = kernels_[{path, name}];
  if (!kernel) {
    const Binary& first = binary_of(path, std::nullopt);
    kernel = loaded(binary_of(path, chosen_core(first.code, name)), name);
  }
  return kernel.get();
}

std::uint64_t Kernels::address_of(LoadedKernel& kernel) {
  if (kernel.address != 0) return kernel.address;
  const Cann& cann = Cann::get();
  const std::string entry = "baton_tell_" + kernel.symbol;
  Handle function = nullptr;
  cann.check("aclrtBinaryGetFunction", cann.aclrtBinaryGetFunction(kernel.binary, entry.c_str(), &function));
  std::uint64_t cell = npu_.alloc(sizeof kernel.address);
  auto* const stream = npu_.stream(kernel.kind);
  constexpr std::int32_t kLimitMs = 10'000;
  try {
    cann.check("aclrtLaunchKernelWithHostArgs",
               cann.aclrtLaunchKernelWithHostArgs(function, 1, stream, nullptr, &cell, sizeof cell, nullptr, 0));
    cann.check("aclrtSynchronizeStreamWithTimeout", cann.aclrtSynchronizeStreamWithTimeout(stream, kLimitMs));
    npu_.copy_out(&kernel.address, cell, sizeof kernel.address);
  } catch (const Error& error) {
    npu_.recover(error);
    npu_.free(cell);
    throw;
  }
  npu_.free(cell);
  return kernel.address;
}

const LoadedKernel& Kernels::caller() {
  if (!caller_file_) {
    caller_file_ = KernelFile::compile(
        {.source = "cluster.cpp", .text = kCaller, .platform = kGeneration.platform, .for_clusters = true});
  }
  return *load(caller_file_->path(), kCallerName);
}

const LoadedKernel* Kernels::cluster(const std::array<LoadedKernel*, kCoresOfCluster>& kernels) {
  std::unique_ptr<LoadedKernel>& made = clusters_[kernels];
  if (made) return made.get();
  LoadedKernel together = caller();
  together.name.clear();
  together.cores.emplace();
  for (std::size_t core = 0; core < kCoresOfCluster; ++core) {
    if (kernels[core] == nullptr) continue;
    const Kind wanted = core == 0 ? Kind::cube : Kind::vector;
    if (kernels[core]->kind != wanted) {
      throw Error(Code::invalid_argument,
                  fmt::format("kernel '{}' has code for {} cores, and a {} core of a cluster is to run it",
                              kernels[core]->name, word_for(kernels[core]->kind), word_for(wanted)),
                  {fmt::format("compile its source for {0} cores, too: `baton compile --core {0}`, KernelSource::core",
                               word_for(wanted))});
    }
    (*together.cores)[core] = address_of(*kernels[core]);
    together.may_defer = together.may_defer || kernels[core]->may_defer;
    if (core < 2 || kernels[core] != kernels[core - 1]) {
      together.name += (together.name.empty() ? "" : "+") + kernels[core]->name;
    }
  }
  made = std::make_unique<LoadedKernel>(std::move(together));
  return made.get();
}

void Kernels::unload(Ending& ending) {
  const Cann& cann = Cann::get();
  for (const auto& [place, binary] : binaries_) ending("aclrtBinaryUnLoad", cann.aclrtBinaryUnLoad(binary.handle));
  forget();
}

void Kernels::forget() {
  clusters_.clear();
  kernels_.clear();
  binaries_.clear();
}

}  // namespace baton::ascend
