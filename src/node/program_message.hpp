// A chip program on its way to a chip: where its parts are.
#pragma once

#include <baton/chip_program.hpp>

#include "node/message.hpp"

namespace baton::node {

inline void put_program(MessageWriter& writer, const ChipProgramParts& parts) {
  writer.put_text(parts.library);
  writer.put_text(parts.entry);
  writer.put_text(parts.config);
  writer.put(parts.building);
  writer.put(static_cast<std::uint32_t>(parts.kernels.size()));
  for (const ProgramKernel& kernel : parts.kernels) {
    writer.put(kernel.id);
    writer.put(kernel.core);
    writer.put_text(kernel.library);
    writer.put_text(kernel.name);
  }
}

[[nodiscard]] inline ChipProgramParts get_program(MessageReader& reader) {
  ChipProgramParts parts{.library = reader.get_text(), .entry = reader.get_text()};
  parts.config = reader.get_text();
  parts.building = reader.get<GraphBuilding>();
  const auto count = reader.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < count; ++i) {
    ProgramKernel kernel;
    kernel.id = reader.get<std::int32_t>();
    kernel.core = reader.get<BatonCoreType>();
    kernel.library = reader.get_text();
    kernel.name = reader.get_text();
    parts.kernels.push_back(std::move(kernel));
  }
  return parts;
}

/// Equal programs have equal ones.
[[nodiscard]] inline std::string identity_of(const ChipProgramParts& parts) {
  MessageWriter writer;
  writer.begin(MessageKind::define);
  put_program(writer, parts);
  const auto bytes = writer.finish();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace baton::node
