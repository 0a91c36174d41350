// Vector clocks for very many actors: those blocks of entries that are not all zero, which clocks share until one of
// them changes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "check/history.hpp"
#include "check/recycling.hpp"

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
  friend bool operator==(const Clock& a, const Clock& b) noexcept { return a.covers(b) && b.covers(a); }

  /// A block, and which one it is: that of actors index * kBlock and following.
  struct Part {
    std::size_t index;
    std::shared_ptr<Block> block;  // which others may share; its only owner may change it
  };
  using Parts = std::vector<Part, Recycling<Part>>;
  /// By index; the others are all zero.
  [[nodiscard]] const Parts& parts() const noexcept { return parts_; }
  /// Null: all zero. Two clocks with the same block have the same entries there.
  [[nodiscard]] const Block* block_at(std::size_t index) const noexcept {
    const auto found = std::ranges::lower_bound(parts_, index, {}, &Part::index);
    return found != parts_.end() && found->index == index ? found->block.get() : nullptr;
  }

 private:
  Parts parts_;
};

[[nodiscard]] inline std::shared_ptr<Clock> make_clock(const Clock& from = {}) {
  return std::allocate_shared<Clock>(Recycling<Clock>(), from);
}

/// What happened before an event: of its own actor everything up to `time`, of others what `seen` says.
struct Stamp {
  Actor actor = 0;
  Time time = 0;
  std::shared_ptr<const Clock> seen;

  [[nodiscard]] Time operator[](Actor other) const noexcept { return other == actor ? time : (*seen)[other]; }
  /// Whether the event comes before `clock`.
  [[nodiscard]] bool is_in(const Clock& clock) const noexcept { return clock[actor] >= time && clock.covers(*seen); }
  void join_to(Clock& clock) const {
    clock.join(*seen);
    clock.raise(actor, time);
  }
};

}  // namespace baton::check
