#include "collectives/graph/device_kernels.hpp"

#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "collectives/call.hpp"

namespace baton::collectives {
namespace {

/// As kernels call it. Elements that are only moved are known by their size: fewer kernels are compiled then.
std::string_view type_of(const DeviceTask& task) {
  if (task.kind == DeviceTask::Kind::collective && reduces(task.operation)) {
    switch (task.element) {
      case Element::float32: return "float";
      case Element::float16: return "half";
      case Element::bfloat16: return "bfloat16_t";
      case Element::int16: return "int16_t";
      case Element::int32: return "int32_t";
      default: break;  // can_combine() refuses them
    }
  }
  switch (size_of(task.element)) {
    case 1: return "uint8_t";
    case 2: return "uint16_t";
    case 4: return "uint32_t";
    default: return "uint64_t";
  }
}

}  // namespace

bool has_host_kernels(const std::string& platform) {
  return platform.ends_with("sim") || platform.find('/') != std::string::npos;
}

DeviceKernelSource source_of(const DeviceTask& task) {
  const std::string_view type = type_of(task);
  std::string name;
  std::string call;
  switch (task.kind) {
    case DeviceTask::Kind::collective:
      name = fmt::format("collective_{}_{}_{}", name_of(task.operation), name_of(task.algorithm), type);
      call = fmt::format("run_device_task<{}, Operation::{}, baton::Algorithm::{}>", type, name_of(task.operation),
                         name_of(task.algorithm));
      break;
    case DeviceTask::Kind::message:
      name = fmt::format("collective_message_{}", type);
      call = fmt::format("run_device_message<{}>", type);
      break;
    case DeviceTask::Kind::barrier:
      name = "collective_barrier";
      call = "run_device_barrier";
      break;
    case DeviceTask::Kind::all_to_all_v:
      name = fmt::format("collective_all_to_all_v_{}", type);
      call = fmt::format("run_device_all_to_all_v<{}>", type);
      break;
  }
  std::string text = fmt::format(
      "#include <baton_kernel.hpp>\n"
      "#include <collectives/device_task.hpp>\n"
      "using namespace baton::collectives;\n"
      "extern \"C\" __aicore__ void {0}(int64_t* args) {{ {1}(args); }}\n"
      "BATON_KERNEL_ENTRY({0});\n",
      name, call);
  return {std::move(name), std::move(text)};
}

const LoadedKernel& device_kernel(const std::string& platform, const DeviceTask& task) {
  static std::mutex mutex;
  // Never freed: tasks may be under way when the program ends.
  static auto& loaded = *new std::map<std::pair<std::string, std::string>, LoadedKernel>;
  DeviceKernelSource source = source_of(task);
  const std::lock_guard lock(mutex);
  const auto key = std::pair(platform, source.name);
  if (const auto found = loaded.find(key); found != loaded.end()) return found->second;
  const KernelFile file =
      KernelFile::compile({.source = source.name + ".cpp", .text = std::move(source.text), .platform = platform});
  return loaded.emplace(key, file.kernel(source.name)).first->second;
}

}  // namespace baton::collectives
