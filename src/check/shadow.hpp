// Who touched which bytes of a memory last: intervals, each with the last write and the accesses since.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/function_ref.hpp"
#include "check/clock.hpp"
#include "check/history.hpp"

namespace baton::check {

/// An access that later ones are held against.
struct Touch {
  Event event;
  Time time = 0;
};

class Shadow {
 public:
  /// Forgets what was done with these bytes.
  void forget(std::uint64_t begin, std::uint64_t end);

  /// `by` touches bytes; calls found(earlier, begin, end) for each access that conflicts with it and is not before it.
  void touch(const Event& by, const Stamp& stamp,
             FunctionRef<void(const Touch&, std::uint64_t begin, std::uint64_t end)> found);

  /// Forgets what everybody has behind them. True if nothing is left.
  bool forget(const Clock& seen_by_all);

 private:
  using Found = FunctionRef<void(const Touch&, std::uint64_t begin, std::uint64_t end)>;
  /// One of its rows.
  void touch_row(const Event& by, const Stamp& stamp, std::uint64_t first, std::uint64_t last, Found found);

  struct Piece {
    std::uint64_t end = 0;
    std::vector<Touch> write;  // none or one
    std::vector<Touch> since;  // reads and atomic accesses, none before another of its kind
  };
  using Pieces = std::map<std::uint64_t, Piece>;
  Pieces::iterator cut(std::uint64_t at);

  Pieces pieces_;  // by begin; disjoint
};

}  // namespace baton::check
