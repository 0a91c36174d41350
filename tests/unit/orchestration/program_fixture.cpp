#include "program_fixture.hpp"

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include <baton/kernel_source.hpp>

#include "sources/numbers.h"

namespace baton::test {
namespace {

std::string source(const std::string& file) { return fmt::format("{}/{}.cpp", ORCHESTRATION_SOURCES, file); }

std::string compiled(const std::string& file, SourceForm form) {
  ::setenv("BATON_CACHE_DIR", ORCHESTRATION_TEST_CACHE, 0);
  return KernelFile::compile({.source = source(file), .form = form}).path();
}

}  // namespace

ChipProgramParts parts_of(const std::string& file, const std::string& entry, GraphBuilding building) {
  const std::string kernels = compiled("kernels", SourceForm::kernels);
  ChipProgramParts parts{.library = compiled(file, SourceForm::orchestrations), .entry = entry};
  parts.building = building;
  const auto add = [&](FuncId id, const char* name, BatonCoreType core = BATON_CORE_VECTOR) {
    parts.kernels.push_back({id, kernels, name, core});
  };
  add(FUNC_ADD, "add");
  add(FUNC_SCALE, "scale");
  add(FUNC_INCREASE, "increase");
  add(FUNC_MARK_BLOCK, "mark_block");
  add(FUNC_MEET, "meet");
  add(FUNC_CUBE_PART, "cube_part", BATON_CORE_CUBE);
  add(FUNC_VECTOR_PART, "vector_part");
  add(FUNC_TELL_SHAPE, "tell_shape");
  add(FUNC_TELL_SCALARS, "tell_scalars");
  add(FUNC_WAIT_FOR_COUNTER, "wait_for_counter");
  add(FUNC_WAIT_FOR_COUNTER_IN_QUEUE, "wait_for_counter_in_queue");
  add(FUNC_READ_COUNTER, "read_counter");
  add(FUNC_NOTIFY, "notify");
  add(FUNC_CRASH, "crash");
  add(FUNC_CUBE_INCREASE, "increase", BATON_CORE_CUBE);
  return parts;
}

std::string place_of(const std::string& file, const std::string& mark) {
  std::ifstream text(source(file));
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    if (line.ends_with("// " + mark)) return fmt::format("{}.cpp:{}", file, number);
  }
  return "no line with the mark " + mark;
}

Tensor& ProgramChip::add(const std::vector<float>& values) {
  tensors.push_back(chip.alloc<float>({static_cast<std::int64_t>(values.size())}));
  chip.copy_in<float>(tensors.back(), values);
  return tensors.back();
}

Tensor& ProgramChip::add_int32(const std::vector<std::int32_t>& values, std::initializer_list<std::int64_t> shape) {
  tensors.push_back(chip.alloc<std::int32_t>(shape));
  chip.copy_in<std::int32_t>(tensors.back(), values);
  return tensors.back();
}

void ProgramChip::run(const ChipProgramParts& parts, const std::vector<std::int64_t>& scalars) {
  ChipProgram(parts).run(chip, ChipArgs(tensors, scalars));
}

std::vector<float> ProgramChip::values(std::size_t tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensors.at(tensor).element_count()));
  chip.copy_out<float>(tensors[tensor], std::span(values));
  return values;
}

}  // namespace baton::test
