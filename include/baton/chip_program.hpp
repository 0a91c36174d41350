// Chip programs: orchestrations that know their kernels by numbers, with these kernels.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <baton/chip.hpp>
#include <baton/chip_args.hpp>
#include <baton/export.hpp>
#include <baton/kernel_abi.hpp>
#include <baton/place.hpp>

namespace baton {

namespace orchestration {
class Program;
}

/// A kernel of a chip program.
struct ProgramKernel {
  std::int32_t id = 0;
  std::string library;  ///< The path of its kernel library.
  std::string name = "kernel_entry";
  BatonCoreType core = BATON_CORE_VECTOR;
};

/// How the graph of a chip program comes about.
enum class GraphBuilding : std::uint8_t {
  stream,    // tasks run while others are submitted
  captured,  // all are submitted before the first one runs
};

/// Where the parts of a chip program are.
struct ChipProgramParts {
  /// A library that was compiled from a source with `pto_orchestration_api.h`.
  std::string library;
  /// The function in it.
  std::string entry = "aicpu_orchestration_entry";
  /// The function that says how many arguments there are. Empty: aicpu_orchestration_config, if there is one.
  std::string config{};
  std::vector<ProgramKernel> kernels{};
  GraphBuilding building = GraphBuilding::stream;
};

/// Loaded, and ready to run on chips of this process. Copies share it. Any thread.
class BATON_API ChipProgram {
 public:
  /// Throws Error (not_a_kernel) that names what is missing, (invalid_argument) if two kernels have one number.
  explicit ChipProgram(ChipProgramParts parts);

  [[nodiscard]] const ChipProgramParts& parts() const noexcept;
  /// Runs it. Throws like Chip::run(); what its author reported, or did wrong, as Error (orchestration_failed).
  void run(Chip& chip, const ChipArgs& args, Place where = Place::here()) const;

 private:
  std::shared_ptr<const orchestration::Program> program_;
};

}  // namespace baton
