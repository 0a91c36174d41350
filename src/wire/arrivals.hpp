// The board of arrivals: how a notifier tells a rank which of its signals changed, so that a rank that waits for a
// hundred thousand of them looks at a few.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace baton::wire {

inline constexpr std::size_t kArrivalWords = 64;
inline constexpr std::uint32_t kArrivalSpots = kArrivalWords * 64;

/// One bit for each spot; signals are spread over the spots. Zero is its initial state.
struct ArrivalBoard {
  /// Read by everyone who notifies this rank; 0: it looks at nothing here, so nobody needs to write.
  std::atomic<std::uint32_t> watched;
  std::byte pad0[64 - 4];
  std::atomic<std::uint64_t> summary;  // bit w: words[w] has changed
  std::byte pad1[64 - 8];
  std::atomic<std::uint64_t> words[kArrivalWords];

  /// After the signal was changed with a sequentially consistent operation. The caller then rings the rank.
  void mark(std::uint32_t spot) noexcept {
    // Pairs with watch(): either this sees that somebody watches, or the test after watch() sees the signal.
    if (watched.load(std::memory_order_seq_cst) == 0) return;
    words[spot / 64].fetch_or(std::uint64_t{1} << (spot % 64), std::memory_order_relaxed);
    // Releases the bit to take(). Sequentially consistent because the doorbell is rung after it.
    summary.fetch_or(std::uint64_t{1} << (spot / 64), std::memory_order_seq_cst);
  }

  /// The owner's side. One that begins to watch tests its signals after this.
  void watch(std::int32_t change) noexcept {
    watched.fetch_add(static_cast<std::uint32_t>(change), std::memory_order_seq_cst);
  }
  [[nodiscard]] bool any() const noexcept { return summary.load(std::memory_order_seq_cst) != 0; }
  /// Calls `arrived(spot)` for each spot that was marked, and clears it.
  template <class Arrived>
  void take(Arrived&& arrived) noexcept(noexcept(arrived(0U))) {
    // Pairs with mark().
    std::uint64_t changed = summary.exchange(0, std::memory_order_seq_cst);
    for (; changed != 0; changed &= changed - 1) {
      const auto word = static_cast<std::uint32_t>(__builtin_ctzll(changed));
      std::uint64_t bits = words[word].exchange(0, std::memory_order_relaxed);
      for (; bits != 0; bits &= bits - 1) arrived(word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits)));
    }
  }
};
static_assert(sizeof(ArrivalBoard) == 10 * 64);

/// The spot of the cache line at `offset` of its rank's part of the window `tag`: the same for all ranks.
[[nodiscard]] constexpr std::uint32_t arrival_spot(std::uint64_t tag, std::uint64_t offset) noexcept {
  const std::uint64_t mixed = (tag ^ (offset / 64)) * 0x9e3779b97f4a7c15U;
  return static_cast<std::uint32_t>(mixed >> 52) % kArrivalSpots;
}

}  // namespace baton::wire
