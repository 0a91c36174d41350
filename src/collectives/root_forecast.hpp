// Who will be the root of the next call.
#pragma once

#include <algorithm>
#include <cstdint>

namespace baton::collectives {

/// Roots often go round: those of the panels of a factorisation, or of the blocks of a product. Where ranks outnumber
/// processors everybody then waits for the next root to get its turn. So a root does well to keep its processor while
/// it waits for the one before it: for what that one gives in its own call, or in the call that follows.
class RootForecast {
 public:
  enum class Root : std::uint8_t { gives, takes };

  explicit RootForecast(int ranks) noexcept : ranks_(ranks) {}

  /// Of each call that has a root, in order.
  void note(int root, Root role) noexcept {
    role_ = role;
    int stride = root - last_;
    if (stride < 0) stride += ranks_;
    goes_round_ = stride == stride_ && stride != 0;
    stride_ = stride;
    before_ = last_;
    last_ = root;
  }
  /// Whether `rank`, which waits for `owner`, is the root that follows it if the last three lay evenly apart, and
  /// waiting so has not been in vain of late.
  [[nodiscard]] bool is_worth_waiting(int rank, int owner) noexcept {
    if (!goes_round_) return false;
    const bool gets_from_root = owner == last_ && (last_ + stride_) % ranks_ == rank;
    // Who gives waits for all alike, if at all.
    const bool is_root = role_ == Root::takes && rank == last_ && owner == before_;
    if (!gets_from_root && !is_root) return false;
    if (pause_ == 0) return true;
    --pause_;
    return false;
  }
  /// What came of it.
  void learn(bool in_time) noexcept {
    constexpr std::uint32_t kLongest = 64;
    failures_ = in_time ? 0 : std::min(kLongest, 2 * failures_ + 1);
    pause_ = failures_;
  }

 private:
  int ranks_;
  int before_ = 0;
  int last_ = 0;
  int stride_ = 0;
  Root role_ = Root::gives;
  bool goes_round_ = false;
  /// So many chances pass before the next attempt: twice as many after each that fails.
  std::uint32_t failures_ = 0;
  std::uint32_t pause_ = 0;
};

}  // namespace baton::collectives
