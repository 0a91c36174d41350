#include "chip/cores/sim/pipe_flags.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace baton::chip {
namespace {

constexpr std::int32_t kFlagIds = 8;

std::string describe_flag(std::uint32_t producer, std::uint32_t consumer, std::int32_t id) {
  return fmt::format("flag {} from {} to {}", id, pipe_name(producer), pipe_name(consumer));
}

}  // namespace

std::string pipe_name(std::uint32_t pipe) {
  constexpr std::array<std::string_view, 8> kNames = {"PIPE_S",    "PIPE_V", "PIPE_MTE1", "PIPE_MTE2",
                                                      "PIPE_MTE3", "PIPE_M", "PIPE_ALL",  "PIPE_FIX"};
  return pipe < kNames.size() ? std::string(kNames[pipe]) : fmt::format("pipe {}", pipe);
}

std::vector<PipeFlags::SetFlag>::iterator PipeFlags::find(const Flag& flag) {
  return std::find_if(set_.begin(), set_.end(), [&](const SetFlag& one) { return one.flag == flag; });
}

std::optional<std::string> PipeFlags::set(std::uint32_t producer, std::uint32_t consumer, std::int32_t id,
                                          const BatonPlace& place) {
  if (id < 0 || id >= kFlagIds) return fmt::format("there is no flag {}; 0 to {} exist", id, kFlagIds - 1);
  const Flag flag{producer, consumer, id};
  const auto found = find(flag);
  if (found == set_.end()) {
    set_.push_back({flag, place});
    return std::nullopt;
  }
  return fmt::format("{} is set a second time before anybody awaited it; it was set at {}:{}",
                     describe_flag(producer, consumer, id), found->place.file, found->place.line);
}

std::optional<std::string> PipeFlags::wait(std::uint32_t producer, std::uint32_t consumer, std::int32_t id) {
  if (const auto found = find({producer, consumer, id}); found != set_.end()) {
    set_.erase(found);
    return std::nullopt;
  }
  return fmt::format("{} is awaited, but nobody set it: a chip would wait for ever",
                     describe_flag(producer, consumer, id));
}

std::optional<std::pair<std::string, BatonPlace>> PipeFlags::left_set() const {
  if (set_.empty()) return std::nullopt;
  const auto by_flag = [](const SetFlag& one, const SetFlag& other) { return one.flag < other.flag; };
  const auto& [flag, place] = *std::min_element(set_.begin(), set_.end(), by_flag);
  const auto [producer, consumer, id] = flag;
  return std::pair{fmt::format("{} is still set when the kernel returns", describe_flag(producer, consumer, id)),
                   place};
}

}  // namespace baton::chip
