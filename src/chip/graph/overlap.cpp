#include "chip/graph/overlap.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "chip/graph/congruence.hpp"

namespace baton::graph {
namespace {

/// count values 0, step, 2*step, ... (last * step).
struct Term {
  std::int64_t step;
  std::int64_t last;
};

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return -floor_divide(-a, b); }

/// Asks whether a sum of terms lies in [low, high].
///
/// Bytes of a and b coincide where a.start + i*sa + x = b.start + j*sb + y. With j counted from the end all
/// coefficients are positive, and x - y only widens the target to a window. Equal strides of both views add up to one
/// term: that alone decides tiles of the same matrix.
class SumSearch {
 public:
  SumSearch(const View& a, const View& b, int work_limit) : work_left_(work_limit) {
    const auto distance = static_cast<std::int64_t>(b.start - a.start);
    low_ = distance - static_cast<std::int64_t>(a.run) + 1;
    high_ = distance + static_cast<std::int64_t>(b.run) - 1;
    std::uint32_t i = 0;
    std::uint32_t j = 0;
    while (i < a.dims || j < b.dims) {
      const std::uint64_t sa = i < a.dims ? a.dim[i].stride : 0;
      const std::uint64_t sb = j < b.dims ? b.dim[j].stride : 0;
      Term term{static_cast<std::int64_t>(std::max(sa, sb)), 0};
      if (sa >= sb) term.last += static_cast<std::int64_t>(a.dim[i++].extent - 1);
      if (sb >= sa) {
        const auto last = static_cast<std::int64_t>(b.dim[j++].extent - 1);
        term.last += last;
        low_ += last * term.step;
        high_ += last * term.step;
      }
      terms_[count_++] = term;
    }
    // Of the terms from k on: what they reach together, and what all of their sums are multiples of.
    reach_[count_] = 0;
    divisor_[count_] = 0;
    for (std::size_t k = count_; k-- > 0;) {
      reach_[k] = reach_[k + 1] + terms_[k].step * terms_[k].last;
      if (count_ > 2) divisor_[k] = std::gcd(divisor_[k + 1], terms_[k].step);
    }
  }

  [[nodiscard]] Overlap run() { return search(0, low_, high_); }

 private:
  [[nodiscard]] Overlap search(std::size_t from, std::int64_t low, std::int64_t high) {
    low = std::max<std::int64_t>(low, 0);
    high = std::min(high, reach_[from]);
    if (low > high) return Overlap::none;
    if (low == 0 || high == reach_[from]) return Overlap::some;
    const std::size_t terms = count_ - from;
    if (terms == 1) return high / terms_[from].step * terms_[from].step >= low ? Overlap::some : Overlap::none;
    if (terms == 2) return two_terms(terms_[from], terms_[from + 1], low, high) ? Overlap::some : Overlap::none;
    if (high / divisor_[from] * divisor_[from] < low) return Overlap::none;
    const auto [step, last] = terms_[from];
    const std::int64_t first = std::max<std::int64_t>(0, ceil_divide(low - reach_[from + 1], step));
    const std::int64_t end = std::min(last, high / step);
    bool decided = true;
    for (std::int64_t k = first; k <= end; ++k) {
      if (--work_left_ < 0) return Overlap::undecided;
      switch (search(from + 1, low - k * step, high - k * step)) {
        case Overlap::none: break;
        case Overlap::some: return Overlap::some;
        case Overlap::undecided: decided = false; break;
      }
    }
    return decided ? Overlap::none : Overlap::undecided;
  }

  /// Whether i * a.step + j * b.step lies in [low, high] for an i and a j within their bounds; 0 < low.
  [[nodiscard]] static bool two_terms(const Term& a, const Term& b, std::int64_t low, std::int64_t high) {
    const std::int64_t reach = b.step * b.last;
    const std::int64_t first = std::max<std::int64_t>(0, ceil_divide(low - reach, a.step));
    const std::int64_t end = std::min(a.last, high / a.step);
    if (first > end) return false;
    const std::int64_t width = high - low;
    if (width >= b.step - 1) return true;
    // i for which j = 0 or j = b.last lies in the window.
    if (end * a.step >= low) return true;
    if (first * a.step + reach <= high) return true;
    // For every other i the bounds of j do not matter: only residues modulo b.step do.
    const auto modulus = static_cast<std::uint64_t>(b.step);
    const auto step = static_cast<std::uint64_t>(a.step % b.step);
    const auto residue = static_cast<std::uint64_t>((high - first * a.step) % b.step);
    // (residue - i * step) mod m <= width, that is i * step mod m in [residue - width, residue], cyclically.
    const auto window = static_cast<std::uint64_t>(width);
    if (window >= residue) return true;
    const auto found = first_multiple_within(step, modulus, residue - window, residue);
    return found && *found <= static_cast<std::uint64_t>(end - first);
  }

  static constexpr std::size_t kMaxTerms = 2 * kMaxDims;
  std::array<Term, kMaxTerms> terms_;
  std::array<std::int64_t, kMaxTerms + 1> reach_;
  std::array<std::int64_t, kMaxTerms + 1> divisor_;
  std::size_t count_ = 0;
  std::int64_t low_ = 0;
  std::int64_t high_ = 0;
  int work_left_;
};

}  // namespace

Overlap overlap(const View& a, const View& b, int work_limit) {
  if (a.start >= b.end() || b.start >= a.end()) return Overlap::none;
  if (a.dims + b.dims == 0) return Overlap::some;
  return SumSearch(a, b, work_limit).run();
}

}  // namespace baton::graph
