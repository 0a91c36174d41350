// Which bytes of a buffer a task has changed, on their way to the node: nothing else may be written there, since the
// rest may be another chip's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baton::node {

/// Calls send(bytes) with pieces of at most about kFarPiece bytes that say what differs between `before` and `after`.
/// Both are what lies at `begin` of the buffer.
class ChangedBytes {
 public:
  /// The next piece, empty when there are no more.
  ChangedBytes(std::uint64_t begin, std::span<const std::byte> before, std::span<const std::byte> after) noexcept
      : begin_(begin), before_(before), after_(after) {}
  [[nodiscard]] std::span<const std::byte> next();

  /// Writes what a piece says to `buffer`. False if it makes no sense or leaves the buffer; then some of it was
  /// written.
  [[nodiscard]] static bool apply(std::span<const std::byte> piece, std::span<std::byte> buffer) noexcept;

 private:
  std::uint64_t begin_;
  std::span<const std::byte> before_;
  std::span<const std::byte> after_;
  std::size_t at_ = 0;
  std::vector<std::byte> piece_;
};

}  // namespace baton::node
