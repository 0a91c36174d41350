// A loaded chip program: its functions, and its kernels by their numbers.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include <pto_orchestration_api.h>
#include <baton/chip_program.hpp>

#include "kernel/library.hpp"

namespace baton::orchestration {

class Program {
 public:
  explicit Program(ChipProgramParts parts);

  [[nodiscard]] const ChipProgramParts& parts() const noexcept { return parts_; }
  /// Null if there is none with that number.
  [[nodiscard]] const Kernel* kernel(std::int32_t id) const noexcept;
  /// "0, 3, 7": for messages.
  [[nodiscard]] std::string kernel_numbers() const;

  /// Submits to `graph` what the entry submits. Throws what went wrong.
  void submit(Graph& graph, const ChipArgs& args) const;

 private:
  using Entry = void (*)(const ChipTaskArgs&);
  using Config = PTO2OrchestrationConfig (*)(const ChipTaskArgs&);

  ChipProgramParts parts_;
  kernel::KernelLibrary library_;
  std::vector<kernel::KernelLibrary> kernel_libraries_;
  std::unordered_map<std::int32_t, Kernel> kernels_;
  std::deque<std::string> kernel_names_;
  Entry entry_ = nullptr;
  Config config_ = nullptr;  // null: nothing is checked
};

}  // namespace baton::orchestration
