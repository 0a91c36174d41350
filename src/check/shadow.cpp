#include "check/shadow.hpp"

#include <algorithm>

namespace baton::check {
namespace {

bool is_before(const Touch& touch, const Stamp& stamp) { return stamp[touch.event.actor] >= touch.time; }

bool conflict(Use a, Use b) { return a == Use::write || b == Use::write || a != b; }

}  // namespace

Shadow::Pieces::iterator Shadow::cut(std::uint64_t at) {
  auto next = pieces_.upper_bound(at);
  if (next != pieces_.begin()) {
    const auto before = std::prev(next);
    if (before->first == at) return before;
    if (before->second.end > at) {
      Piece behind = before->second;
      before->second.end = at;
      return pieces_.emplace_hint(next, at, std::move(behind));
    }
  }
  return next;
}

void Shadow::forget(std::uint64_t begin, std::uint64_t end) {
  const auto behind = cut(end);
  pieces_.erase(cut(begin), behind);
}

void Shadow::touch(const Event& by, const Stamp& stamp,
                   FunctionRef<void(const Touch&, std::uint64_t begin, std::uint64_t end)> found) {
  for (std::uint64_t row = 0; row < by.rows; ++row) {
    touch_row(by, stamp, by.begin + row * by.pitch, by.end + row * by.pitch, found);
  }
}

void Shadow::touch_row(const Event& by, const Stamp& stamp, std::uint64_t first, std::uint64_t last, Found found) {
  const Touch mine{by, stamp.time};
  auto at = pieces_.lower_bound(first);
  // Mostly the same bytes are touched again.
  if (at == pieces_.end() || at->first != first || at->second.end != last) {
    cut(last);
    at = cut(first);
  }
  for (std::uint64_t begin = first; begin < last;) {
    if (at == pieces_.end() || at->first > begin) {
      const std::uint64_t end = at == pieces_.end() ? last : std::min(last, at->first);
      at = pieces_.emplace_hint(at, begin, Piece{end, {}, {}});
    }
    Piece& piece = at->second;
    const auto hold = [&](const Touch& earlier) {
      if (conflict(earlier.event.use, by.use) && !is_before(earlier, stamp)) found(earlier, begin, piece.end);
    };
    std::ranges::for_each(piece.write, hold);
    std::ranges::for_each(piece.since, hold);
    if (by.use == Use::write) {
      piece.write.assign(1, mine);
      piece.since.clear();
    } else {
      std::erase_if(piece.since,
                    [&](const Touch& earlier) { return earlier.event.use == by.use && is_before(earlier, stamp); });
      piece.since.push_back(mine);
    }
    begin = piece.end;
    ++at;
  }
}

bool Shadow::forget(const Clock& seen_by_all) {
  const auto is_over = [&](const Touch& touch) { return seen_by_all[touch.event.actor] >= touch.time; };
  for (auto at = pieces_.begin(); at != pieces_.end();) {
    std::erase_if(at->second.write, is_over);
    std::erase_if(at->second.since, is_over);
    at = at->second.write.empty() && at->second.since.empty() ? pieces_.erase(at) : std::next(at);
  }
  return pieces_.empty();
}

}  // namespace baton::check
