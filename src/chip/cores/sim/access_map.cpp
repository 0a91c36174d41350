#include "chip/cores/sim/access_map.hpp"

#include <algorithm>
#include <iterator>

namespace baton::chip {

AccessMap::Pieces::iterator AccessMap::cut(std::uintptr_t at) {
  const auto next = pieces_.lower_bound(at);
  if (next == pieces_.begin()) return next;
  const auto before = std::prev(next);
  if (before->second.end <= at) return next;
  const Piece rest = before->second;
  before->second.end = at;
  return pieces_.emplace_hint(next, at, rest);
}

void AccessMap::update(ByteRange range, FunctionRef<void(ByteRange, Accesses&)> visit) {
  static_cast<void>(cut(range.end));
  auto piece = cut(range.begin);
  for (std::uintptr_t at = range.begin; at < range.end;) {
    if (piece == pieces_.end() || piece->first > at) {
      const std::uintptr_t end = piece == pieces_.end() ? range.end : std::min(range.end, piece->first);
      piece = pieces_.emplace_hint(piece, at, Piece{end, {}});
    }
    visit({at, piece->second.end}, piece->second.accesses);
    at = piece->second.end;
    ++piece;
  }
}

void AccessMap::look(ByteRange range, FunctionRef<void(ByteRange, const Accesses&)> visit) const {
  auto piece = pieces_.upper_bound(range.begin);
  if (piece != pieces_.begin() && std::prev(piece)->second.end > range.begin) --piece;
  for (; piece != pieces_.end() && piece->first < range.end; ++piece) {
    visit({std::max(piece->first, range.begin), std::min(piece->second.end, range.end)}, piece->second.accesses);
  }
}

void AccessMap::forget(FunctionRef<bool(const Stamp&)> is_over) {
  for (auto piece = pieces_.begin(); piece != pieces_.end();) {
    Accesses& accesses = piece->second.accesses;
    bool any = false;
    const auto drop = [&](Stamp& stamp) {
      if (stamp.time == 0 || is_over(stamp)) {
        stamp = {};
      } else {
        any = true;
      }
    };
    drop(accesses.write);
    for (Stamp& read : accesses.reads) drop(read);
    piece = any ? std::next(piece) : pieces_.erase(piece);
  }
}

}  // namespace baton::chip
