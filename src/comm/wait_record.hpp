// What a rank waits for, written where others can read it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

  std::string domain{};                  // whose members can end it; empty: not known
  std::vector<std::uint32_t> members{};  // of the domain: ranks of the job
  bool knows_members = false;            // all of them
  bool names_buffer = false;             // `object` is a buffer of the domain's window
  bool is_patient = false;               // it has the time that waits have by default, or more
  std::string actor{};                   // the kernel and core that waits; empty: the program
};

/// Whom a rank waits for at a meeting of all.
inline constexpr std::uint64_t kAllRanks = ~std::uint64_t{0};

/// What all waits of a domain have in common, made once.
struct WaitingDomain {
  WaitingDomain() = default;
  WaitingDomain(std::string_view given, const std::vector<int>& ranks);

  std::string name;
  std::string members;  // a device list; empty: not known, or too long for a record
};

/// Writes `record`, if nobody else's wait is in it: then returns true, and clear_wait() ends it. Domain and members are
/// those of `domain`.
[[nodiscard]] bool write_wait(wire::WaitRecord& record, const WaitDescription& wait,
                              const WaitingDomain& domain = {}) noexcept;
void clear_wait(wire::WaitRecord& record) noexcept;

/// A wait of a rank, where others can see it: in one of its records, or counted if none is free.
class WaitEntry {
 public:
  WaitEntry() = default;
  WaitEntry(const WaitEntry&) = delete;
  WaitEntry& operator=(const WaitEntry&) = delete;
  ~WaitEntry() { end(); }

  /// Once.
  void begin(wire::RankBlock& block, const WaitDescription& wait, const WaitingDomain& domain = {}) noexcept;
  void end() noexcept;

 private:
  wire::WaitRecord* record_ = nullptr;
  wire::RankBlock* counted_in_ = nullptr;  // null: it is in a record, or has not begun
  std::uint32_t impatient_ = 0;            // how many of those that are counted there it is
};

/// The record, or nothing if the rank does not wait or the record kept changing. The bytes may come from anybody.
[[nodiscard]] std::optional<WaitDescription> read_wait(const wire::WaitRecord& record);
/// All records of a rank, the longest wait first.
[[nodiscard]] std::vector<WaitDescription> read_waits(const wire::RankBlock& block);

/// Of a wait for one: `signal 3 of "scratch"`, `flags[3] of domain "tp"`.
[[nodiscard]] std::string describe_signal(const WaitDescription& wait);

/// `signal 3 of "scratch" >= 7`, `flags[3] of domain "tp" >= 7`, `barrier 12 of "world"`, `rank 3 of "world"`.
[[nodiscard]] std::string describe(const WaitDescription& wait);

/// CLOCK_MONOTONIC in nanoseconds.
[[nodiscard]] std::int64_t monotonic_ns() noexcept;

/// "850 us", "1.2 s", "3.5 min".
[[nodiscard]] std::string describe_duration(std::int64_t ns);

}  // namespace baton::comm
