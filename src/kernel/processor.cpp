#include "kernel/processor.hpp"

#include <algorithm>

#include "base/text_file.hpp"

namespace baton::kernel {
namespace {

/// Lines on which a compiler's choice of instructions depends, on x86-64 and on aarch64.
constexpr std::string_view kMeaningful[] = {"vendor_id",       "cpu family",  "model",    "flags",
                                            "CPU implementer", "CPU variant", "CPU part", "Features"};

}  // namespace

std::string processor_identity(std::string_view description) {
  std::string identity;
  while (!description.empty()) {
    const std::string_view line = description.substr(0, description.find('\n'));
    if (line.empty()) break;  // the next processor
    description.remove_prefix(std::min(description.size(), line.size() + 1));
    std::string_view name = line.substr(0, line.find(':'));
    name = name.substr(0, name.find_last_not_of(" \t") + 1);
    if (std::find(std::begin(kMeaningful), std::end(kMeaningful), name) != std::end(kMeaningful))
      identity.append(line).append("\n");
  }
  return identity;
}

const std::string& this_processor() {
  static const std::string identity = processor_identity(read_text_file("/proc/cpuinfo").value_or(""));
  return identity;
}

}  // namespace baton::kernel
