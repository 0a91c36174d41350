// What a rank waits for, written where others can read it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <baton/signal.hpp>

#include "wire/control.hpp"

namespace baton::comm {

/// A wait as people are told of it.
struct WaitDescription {
  wire::Operation operation = wire::Operation::none;
  std::string object;       // the window's or the domain's name
  std::uint64_t index = 0;  // signal index in the window, the epoch of a barrier, or the rank in a collective
  WaitCmp comparison = WaitCmp::ge;
  std::int32_t needs = 0;
  std::int64_t since_ns = 0;  // CLOCK_MONOTONIC
};

/// Whom a rank waits for at a meeting of all.
inline constexpr std::uint64_t kAllRanks = ~std::uint64_t{0};

/// Writes `record`. One writer at a time per record; ranks with several waiting threads show one of them.
void write_wait(wire::WaitRecord& record, const WaitDescription& wait) noexcept;
void clear_wait(wire::WaitRecord& record) noexcept;

/// The record, or nothing if the rank does not wait or the record kept changing. The bytes may come from anybody.
[[nodiscard]] std::optional<WaitDescription> read_wait(const wire::WaitRecord& record);

/// `signal 3 of "scratch" >= 7`, `barrier 12 of "world"`, `rank 3 of "world"`.
[[nodiscard]] std::string describe(const WaitDescription& wait);

/// CLOCK_MONOTONIC in nanoseconds.
[[nodiscard]] std::int64_t monotonic_ns() noexcept;

/// "850 us", "1.2 s", "3.5 min".
[[nodiscard]] std::string describe_duration(std::int64_t ns);

}  // namespace baton::comm
