#include <baton/kernel_source.hpp>

#include <fmt/ranges.h>

#include "base/fail.hpp"
#include "kernel/compile.hpp"
#include "kernel/library.hpp"
#include "kernel/signature.hpp"

// The cores of this process; part of the kernel interface.
extern "C" BatonCore* baton_core_current();  // NOLINT(readability-redundant-declaration)

namespace baton {

struct KernelFile::State {
  kernel::KernelLibrary library;
  std::string messages;
  BatonCoreType core;
};

namespace {

kernel::CoreType core_of(const KernelSource& source) {
  if (source.for_clusters) return kernel::CoreType::cluster;
  return source.core == BATON_CORE_CUBE ? kernel::CoreType::cube : kernel::CoreType::vector;
}

std::shared_ptr<const KernelFile::State> opened(const std::string& path, std::string messages, BatonCoreType core) {
  kernel::KernelLibrary library = kernel::load(path);
  library.bind_core(baton_core_current);
  return std::make_shared<const KernelFile::State>(KernelFile::State{std::move(library), std::move(messages), core});
}

/// What a kernel with a signature of its user needs to stay valid.
struct Signed {
  kernel::WrittenSignature signature;
  std::shared_ptr<const void> library;
};

}  // namespace

std::string LoadedKernel::describe() const {
  return kernel_.signature == nullptr ? kernel_.name : kernel::describe(kernel_.name, *kernel_.signature);
}

LoadedKernel LoadedKernel::with_signature(std::vector<WrittenParameter> parameters) const {
  std::vector<kernel::WrittenSignature::Parameter> written;
  written.reserve(parameters.size());
  for (WrittenParameter& parameter : parameters) {
    written.push_back({parameter.direction, std::move(parameter.name), parameter.type, parameter.dims});
  }
  auto keep = std::make_shared<const Signed>(Signed{kernel::WrittenSignature(std::move(written)), keep_});
  Kernel kernel = kernel_;
  kernel.signature = &keep->signature.get();
  return {kernel, keep, library_};
}

KernelFile KernelFile::compile(const KernelSource& source) {
  const kernel::CompiledKernel compiled = kernel::compile({.source = source.source,
                                                           .text = source.text,
                                                           .core = core_of(source),
                                                           .form = source.form,
                                                           .platform = source.platform,
                                                           .include_dirs = source.include_dirs,
                                                           .defines = source.defines,
                                                           .flags = source.flags,
                                                           .debug = source.debug});
  return KernelFile(opened(compiled.library, compiled.messages, source.core));
}

KernelFile KernelFile::load(const std::string& path) { return KernelFile(opened(path, {}, BATON_CORE_VECTOR)); }

const std::vector<std::string>& KernelFile::names() const { return state_->library.names(); }
const std::string& KernelFile::path() const { return state_->library.path(); }
const std::string& KernelFile::messages() const { return state_->messages; }

LoadedOrchestration KernelFile::orchestration(std::string_view name) const {
  const auto function = reinterpret_cast<ChipOrchestration>(state_->library.orchestration(name));
  return {function, state_, path(), std::string(name)};
}

LoadedKernel KernelFile::kernel(std::string_view name) const {
  if (name.empty() && names().size() > 1) {
    throw Error(Code::not_a_kernel,
                fmt::format("{} has {} kernels: {}", path(), names().size(), fmt::join(names(), ", ")),
                {"say which one is meant"});
  }
  std::string_view chosen = name;
  if (name.empty()) chosen = names().empty() ? kernel::kDefaultEntry : std::string_view(names().front());
  Kernel kernel = state_->library.kernel(chosen);
  // A library cannot tell for which core a raw kernel was compiled.
  if (state_->core == BATON_CORE_CUBE) kernel.core = BATON_CORE_CUBE;
  return {kernel, state_, path()};
}

}  // namespace baton
