// How long kernels take, as far as it was measured: which of them are over before another thread would have begun.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <baton/kernel_abi.hpp>

namespace baton::chip {

/// The last measurement of each kernel counts, but as no more than twice the one before: a thread may have lost its
/// processor meanwhile. Any thread notes and asks: these are hints, and order nothing.
class KernelLengths {
 public:
  /// A kernel that takes longer, the look at the clock included, is worth another thread.
  static constexpr std::int64_t kShortNs = 400;

  /// A run of `kernel` took so long.
  void note(BatonKernelFunction kernel, std::int64_t ns) noexcept {
    const std::uint64_t hash = hash_of(kernel);
    std::atomic<std::uint64_t>& entry = entries_[index_of(hash)];
    const std::uint64_t before = entry.load(std::memory_order_relaxed);
    if ((before & kNameMask) == name_in(hash)) ns = std::min(ns, 2 * static_cast<std::int64_t>(before & ~kNameMask));
    set(entry, hash, ns);
  }
  /// It waited, or was deferred: who submits must not do that.
  void note_wait(BatonKernelFunction kernel) noexcept {
    const std::uint64_t hash = hash_of(kernel);
    set(entries_[index_of(hash)], hash, kLongest);
  }

  /// Not if nothing is known of it.
  [[nodiscard]] bool is_short(BatonKernelFunction kernel) const noexcept {
    const std::uint64_t hash = hash_of(kernel);
    const std::uint64_t entry = entries_[index_of(hash)].load(std::memory_order_relaxed);
    return (entry & kNameMask) == name_in(hash) && (entry & ~kNameMask) < kShortNs;
  }

 private:
  // An entry is one word, the upper half of which tells kernels apart and the lower half of which are nanoseconds: so
  // it is never half of one kernel's and half of another's. Two kernels with the same entry are handed over more often.
  static constexpr std::size_t kEntries = 4096;
  static constexpr std::int64_t kLongest = 0xffffffff;
  static constexpr std::uint64_t kNameMask = ~std::uint64_t{0xffffffff};
  static constexpr std::uint64_t kKnown = std::uint64_t{1} << 32U;

  static void set(std::atomic<std::uint64_t>& entry, std::uint64_t hash, std::int64_t ns) noexcept {
    const auto length = static_cast<std::uint64_t>(std::clamp<std::int64_t>(ns, 1, kLongest));
    entry.store(name_in(hash) | length, std::memory_order_relaxed);
  }
  [[nodiscard]] static std::uint64_t hash_of(BatonKernelFunction kernel) noexcept {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
    return reinterpret_cast<std::uintptr_t>(kernel) * kOdd;
  }
  [[nodiscard]] static std::size_t index_of(std::uint64_t hash) noexcept {
    return static_cast<std::size_t>(hash >> 52U);
  }
  /// Never 0, which is what an entry begins with.
  [[nodiscard]] static std::uint64_t name_in(std::uint64_t hash) noexcept { return (hash << 12U | kKnown) & kNameMask; }

  std::array<std::atomic<std::uint64_t>, kEntries> entries_{};
};

}  // namespace baton::chip
