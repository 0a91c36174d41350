// Chip programs of the sources beside this file.
#pragma once

#include <string>
#include <vector>

#include <baton/chip.hpp>
#include <baton/chip_program.hpp>

namespace baton::test {

/// The orchestration `entry` of sources/FILE.cpp with all kernels of the tests.
[[nodiscard]] ChipProgramParts parts_of(const std::string& file, const std::string& entry,
                                        GraphBuilding building = GraphBuilding::stream);

/// "file.cpp:LINE" of the line of sources/FILE.cpp that ends in "// MARK".
[[nodiscard]] std::string place_of(const std::string& file, const std::string& mark);

/// A chip and tensors of float on it.
class ProgramChip {
 public:
  explicit ProgramChip(const std::string& platform = "a2a3sim") : chip({.platform = platform, .clusters = 3}) {}

  Tensor& add(const std::vector<float>& values);
  Tensor& add_int32(const std::vector<std::int32_t>& values, std::initializer_list<std::int64_t> shape);
  void run(const ChipProgramParts& parts, const std::vector<std::int64_t>& scalars = {});
  [[nodiscard]] std::vector<float> values(std::size_t tensor);

  Chip chip;
  std::vector<Tensor> tensors;
};

}  // namespace baton::test
