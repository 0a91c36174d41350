// The asynchronous copies that the running kernel submitted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include <pto/target/core.hpp>

#include "base/function_ref.hpp"
#include "chip/cores/operation.hpp"

namespace baton::chip {

/// Copies of one session that nobody has awaited, at the most: the length of a DMA queue.
inline constexpr std::uint32_t kMostOpenCopies = 64;

struct SubmittedCopy {
  std::shared_ptr<const OperationRecord> record;
  BatonPlace place;
  std::uint64_t session;
  std::uint64_t number;  // of this kernel's copies
  enum class Care : std::uint8_t { none, awaited, condition } care = Care::none;
};

class SubmittedCopies {
 public:
  void add(std::shared_ptr<const OperationRecord> record, std::uint64_t session, const BatonPlace& place);

  /// The copy with the record at `address`, or nullptr.
  [[nodiscard]] SubmittedCopy* find(std::uint64_t address);

  /// The kernel saw it complete, or made it a condition: that covers the earlier copies of its session.
  void take_care(const SubmittedCopy& copy, SubmittedCopy::Care care);

  [[nodiscard]] std::uint32_t open_in(std::uint64_t session) const;
  /// The first one that nobody waits for, or nullptr.
  [[nodiscard]] const SubmittedCopy* left_open() const;
  void for_each(FunctionRef<void(const OperationRecord&)> visit) const {
    for (const auto& [address, copy] : copies_) visit(*copy.record);
  }
  [[nodiscard]] bool empty() const noexcept { return copies_.empty(); }
  void clear() noexcept { copies_.clear(); }

 private:
  std::map<std::uint64_t, SubmittedCopy> copies_;  // by the record's address
};

}  // namespace baton::chip
