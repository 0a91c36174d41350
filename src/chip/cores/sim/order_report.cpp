// The words of an OrderChecker.
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "chip/cores/sim/order_checker.hpp"
#include "chip/cores/sim/pipe_flags.hpp"

namespace baton::chip {
namespace {

/// An instruction on several pipes begins on the lowest and ends on the highest of them: TPUT loads, then stores.
using kernel::first_pipe;
using kernel::last_pipe;

std::string missing_flags(std::uint32_t producer, std::uint32_t consumer) {
  return fmt::format("set_flag({0}, {1}, id) and wait_flag({0}, {1}, id)", pipe_name(producer), pipe_name(consumer));
}

}  // namespace

std::string describe_place(const BatonPlace* place) {
  if (place == nullptr) return "an instruction";
  if (place->line == 0) return place->instruction;
  return fmt::format("{} at {}:{}", place->instruction, place->file, place->line);
}

std::string OrderChecker::describe_bytes(ByteRange bytes) const {
  // By pto::TileType.
  constexpr std::array<std::string_view, BATON_CORE_BUFFERS> kBuffers = {"Vec", "Mat",  "Left",   "Right",
                                                                         "Acc", "Bias", "Scaling"};
  for (std::size_t i = 0; i < kBuffers.size(); ++i) {
    const auto base = reinterpret_cast<std::uintptr_t>(buffers_[i].base);
    if (buffers_[i].base == nullptr || bytes.begin < base || bytes.begin >= base + buffers_[i].capacity) continue;
    return fmt::format("bytes {} to {} of the {} buffer", bytes.begin - base, bytes.end - base - 1, kBuffers[i]);
  }
  return fmt::format("{} bytes at {}", bytes.end - bytes.begin,
                     memory_.name_of(reinterpret_cast<const void*>(bytes.begin)));
}

std::string OrderChecker::conflict(ByteRange bytes, Touch second, std::uint32_t pipes, const Stamp& first,
                                   Touch first_access) const {
  const std::uint32_t producer = last_pipe(first.pipes);
  const std::uint32_t consumer = first_pipe(pipes);
  return fmt::format("it {} {} on {}, which {} {} on {}, and nothing orders the two; between them are missing {}",
                     second == Touch::write ? "writes" : "reads", describe_bytes(bytes), pipe_name(consumer),
                     describe_place(&places_[first.place]), first_access == Touch::write ? "writes" : "reads",
                     pipe_name(producer), missing_flags(producer, consumer));
}

std::optional<std::string> OrderChecker::overtaken(const GlobalWrite& write) const {
  if (order_.clock(kernel::kScalarPipe)[write.stamp.pipe] >= write.stamp.time) return std::nullopt;
  const std::uint32_t producer = last_pipe(write.stamp.pipes);
  return fmt::format("it overtakes {}, which writes {} on {} and is not drained; between them are missing {}",
                     describe_place(&places_[write.stamp.place]), memory_.name_of(write.address), pipe_name(producer),
                     missing_flags(producer, kernel::kScalarPipe));
}

}  // namespace baton::chip
