#include "platform/cuda/run_failure.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <baton/error.hpp>

namespace baton::cuda {
namespace {

/// What the core wrote, with the name of the signal in place of its address.
std::string with_name(const Failure& failure, const BatonRunOptions& options) {
  std::string text = failure.text;
  if (failure.signal == 0 || options.name_address == nullptr) return text;
  constexpr std::size_t kLongestName = 256;
  std::array<char, kLongestName> name{};
  options.name_address(options.context, failure.signal, name.data(), name.size());
  const std::string address = fmt::format("address {}", failure.signal);
  const std::size_t at = text.find(address);
  if (name[0] != '\0' && at != std::string::npos) text.replace(at, address.size(), name.data());
  return text;
}

}  // namespace

void raise_failure(Gpu& gpu, const BatonRunOptions& options, std::size_t task_count,
                   const std::function<const LoadedKernel*(std::size_t)>& kernel_of, std::uint32_t& failed_task) {
  const Failure failure = *gpu.failure();
  *gpu.failure() = {};
  failed_task = failure.task < task_count ? failure.task : BATON_NO_TASK;
  const LoadedKernel* kernel = failed_task == BATON_NO_TASK ? nullptr : kernel_of(failed_task);
  std::string place = failure.instruction;
  if (failure.line != 0) place += fmt::format(" at {}:{}", failure.file, failure.line);
  if (!place.empty()) place += ": ";
  const std::string who = kernel == nullptr ? "a task without a kernel" : fmt::format("kernel '{}'", kernel->name);
  throw Error(static_cast<Code>(failure.code),
              fmt::format("{} on core {} of the GPU: {}{}", who, failure.core, place, with_name(failure, options)));
}

void raise_crash(Result result, std::size_t task_count,
                 const std::function<const LoadedKernel*(std::size_t)>& kernel_of) {
  constexpr std::size_t kMostNames = 8;
  std::vector<std::string> names;
  for (std::size_t task = 0; task < task_count && names.size() <= kMostNames; ++task) {
    const LoadedKernel* const kernel = kernel_of(task);
    if (kernel == nullptr || std::ranges::find(names, kernel->name) != names.end()) continue;
    names.push_back(names.size() == kMostNames ? "others" : kernel->name);
  }
  const char* name = nullptr;
  Driver::get().error_name(result, &name);
  throw Error(
      Code::kernel_fault,
      fmt::format("a kernel brought the GPU down: {}", name == nullptr ? "an error without a name" : name),
      {fmt::format("what was running: {}", fmt::join(names, ", ")), "this process cannot use the GPU any more"});
}

}  // namespace baton::cuda
