// Vector clocks for very many actors: blocks of entries that clocks share until one of them changes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "check/history.hpp"

namespace baton::check {

/// For each actor, up to which of its events everything has happened before. Copies are cheap.
class Clock {
 public:
  static constexpr std::size_t kBlock = 32;
  using Block = std::array<Time, kBlock>;

  [[nodiscard]] Time operator[](Actor actor) const noexcept {
    const Block* block = block_at(actor / kBlock);
    return block == nullptr ? 0 : (*block)[actor % kBlock];
  }

  /// Both: true if the clock has grown.
  bool raise(Actor actor, Time time);
  bool join(const Clock& other);
  /// Keeps what both have.
  void meet(const Clock& other);

  [[nodiscard]] bool covers(const Clock& other) const noexcept;

  [[nodiscard]] std::size_t blocks() const noexcept { return blocks_.size(); }
  /// Null: all zero. Two clocks with the same block have the same entries there.
  [[nodiscard]] const Block* block_at(std::size_t index) const noexcept {
    return index < blocks_.size() ? blocks_[index].get() : nullptr;
  }

 private:
  std::vector<std::shared_ptr<const Block>> blocks_;
};

/// What happened before an event: of its own actor everything up to `time`, of others what `seen` says.
struct Stamp {
  Actor actor = 0;
  Time time = 0;
  std::shared_ptr<const Clock> seen;

  [[nodiscard]] Time operator[](Actor other) const noexcept { return other == actor ? time : (*seen)[other]; }
};

}  // namespace baton::check
