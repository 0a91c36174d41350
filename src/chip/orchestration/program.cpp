#include "chip/orchestration/program.hpp"

#include <algorithm>
#include <optional>

#include <fmt/ranges.h>

#include "base/fail.hpp"
#include "base/quote.hpp"
#include "chip/orchestration/failure.hpp"
#include "chip/orchestration/run.hpp"
#include "chip/orchestration/tensors.hpp"

// The cores of this process; part of the kernel interface.
extern "C" BatonCore* baton_core_current();  // NOLINT(readability-redundant-declaration)

namespace baton::orchestration {
namespace {

constexpr const char* kUsualConfig = "aicpu_orchestration_config";

template <class Function>
Function function_in(const kernel::KernelLibrary& library, const std::string& name, const char* what) {
  void* found = library.symbol(name);
  if (found == nullptr) {
    throw Error(Code::not_a_kernel, fmt::format("{} has no {} {}", library.path(), what, quote(name)),
                {library.names().empty() ? "it has none; an orchestration is a function extern \"C\" void "
                                           "name(const ChipTaskArgs&)"
                                         : fmt::format("it has {}", fmt::join(library.names(), ", "))});
  }
  return reinterpret_cast<Function>(found);
}

/// Throws Error (not_a_kernel, wrong_abi) unless it was compiled with the orchestration API of this version.
void bind(const kernel::KernelLibrary& library) {
  const auto* version = static_cast<const std::uint32_t*>(library.symbol("baton_orchestration_abi_version"));
  const auto bind_table =
      reinterpret_cast<void (*)(const BatonOrchestrationTable*)>(library.symbol("baton_orchestration_bind"));
  if (version == nullptr || bind_table == nullptr) {
    fail(Code::not_a_kernel,
         "{} is not a library of orchestrations: its source does not include pto_orchestration_api.h", library.path());
  }
  if (*version != BATON_ORCHESTRATION_ABI_VERSION) {
    fail(Code::wrong_abi, "{} was built for version {} of the orchestration API, and this Baton has version {}",
         library.path(), *version, static_cast<std::uint32_t>(BATON_ORCHESTRATION_ABI_VERSION));
  }
  bind_table(&kTable);
}

/// Of what the caller passed, before the orchestration began.
[[noreturn]] void refuse(const std::string& detail) {
  const Error refusal = failure(PTO2_ERROR_INVALID_ARGS, detail, "");
  print(refusal);
  throw Error(refusal);
}

void check_count(const PTO2OrchestrationConfig& config, const ChipArgs& args) {
  const std::size_t given = args.tensor_count() + args.scalar_count();
  if (config.expected_arg_count <= 0 || given >= static_cast<std::size_t>(config.expected_arg_count)) return;
  refuse(fmt::format("{} tensors and {} scalars were given, and the orchestration expects {} arguments",
                     args.tensor_count(), args.scalar_count(), config.expected_arg_count));
}

}  // namespace

Program::Program(ChipProgramParts parts) : parts_(std::move(parts)), library_(kernel::load(parts_.library)) {
  bind(library_);
  entry_ = function_in<Entry>(library_, parts_.entry, "orchestration");
  if (!parts_.config.empty()) {
    config_ = function_in<Config>(library_, parts_.config, "function");
  } else {
    config_ = reinterpret_cast<Config>(library_.symbol(kUsualConfig));
  }
  for (const ProgramKernel& kernel : parts_.kernels) {
    kernel::KernelLibrary library = kernel::load(kernel.library);
    library.bind_core(baton_core_current);
    Kernel loaded = library.kernel(kernel.name);
    // A library cannot tell for which core a raw kernel was compiled.
    loaded.core = kernel.core;
    // All raw kernels have one name; messages tell them apart.
    if (kernel.name == kernel::kDefaultEntry) {
      loaded.name = kernel_names_.emplace_back(fmt::format("kernel {}", kernel.id)).c_str();
    }
    // Its arguments are whatever the orchestration passes.
    loaded.signature = nullptr;
    if (!kernels_.emplace(kernel.id, loaded).second) {
      fail(Code::invalid_argument, "two kernels have the number {}", kernel.id);
    }
    kernel_libraries_.push_back(std::move(library));
  }
}

const Kernel* Program::kernel(std::int32_t id) const noexcept {
  const auto found = kernels_.find(id);
  return found == kernels_.end() ? nullptr : &found->second;
}

std::string Program::kernel_numbers() const {
  std::vector<std::int32_t> numbers;
  for (const ProgramKernel& kernel : parts_.kernels) numbers.push_back(kernel.id);
  std::ranges::sort(numbers);
  return numbers.empty() ? "none" : fmt::format("{}", fmt::join(numbers, ", "));
}

void Program::submit(Graph& graph, const ChipArgs& args) const {
  // Arguments refer to them.
  std::deque<ChipTensor> tensors;
  ChipTaskArgs list;
  for (std::size_t i = 0; i < args.tensor_count(); ++i) {
    list.add_tensor(tensors.emplace_back(descriptor_of(args.tensor(i))));
  }
  for (std::size_t i = 0; i < args.scalar_count(); ++i) {
    list.add_bits(static_cast<std::uint64_t>(args.scalar<std::int64_t>(i)));
  }
  if (list.has_error) refuse(list.error_msg);
  Run run(graph, *this);
  if (config_ != nullptr) check_count(config_(list), args);
  entry_(list);
  run.rethrow_failure();
}

}  // namespace baton::orchestration

namespace baton {

ChipProgram::ChipProgram(ChipProgramParts parts)
    : program_(std::make_shared<const orchestration::Program>(std::move(parts))) {}

const ChipProgramParts& ChipProgram::parts() const noexcept { return program_->parts(); }

void ChipProgram::run(Chip& chip, const ChipArgs& args, Place where) const {
  // What the orchestration itself reported: the chip would tell of the task behind it, which has no number.
  std::optional<Error> reported;
  const auto submit = [&](Graph& graph) {
    try {
      program_->submit(graph, args);
    } catch (const Error& error) {
      if (error.code() == Code::orchestration_failed) reported = error;
      throw;
    }
  };
  try {
    if (parts().building == GraphBuilding::stream) {
      chip.run(submit, {}, where);
    } else {
      CapturedGraph graph = chip.capture(submit, {}, where);
      chip.run(graph);
    }
  } catch (const Error& error) {
    // Somebody waited too long: authors know this by a number, too.
    if (error.code() != Code::wait_timeout) throw;
    if (reported) throw Error(*reported);
    throw Error(error.code(),
                fmt::format("run failed with code {}: {}", -PTO2_ERROR_SCHEDULER_TIMEOUT, error.message()),
                error.notes(), error.remedy());
  }
}

}  // namespace baton
