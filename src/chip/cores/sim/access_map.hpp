// Who touched which bytes last: a shadow of on-chip buffers and global memory, exact to the byte.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include <pto/order/pipe_clock.hpp>

#include "base/function_ref.hpp"

namespace baton::chip {

using kernel::kPipes;
using kernel::PipeClock;

/// One instruction, as far as order is concerned.
struct Stamp {
  std::uint64_t time = 0;   // its number on `pipe`; 0: no instruction
  std::uint32_t pipe = 0;   // one of `pipes`
  std::uint32_t pipes = 0;  // bits
  std::uint32_t place = 0;  // its place in the source, as the owner of the map counts them
};

/// The last accesses to some bytes. Of several reads on one pipe the last suffices: the pipe orders the others before.
struct Accesses {
  Stamp write;
  std::array<Stamp, kPipes> reads;
};

/// [begin, end)
struct ByteRange {
  std::uintptr_t begin;
  std::uintptr_t end;
};

class AccessMap {
 public:
  /// Calls visit(piece, accesses) for pieces that together are exactly `range`; `visit` may change the accesses.
  void update(ByteRange range, FunctionRef<void(ByteRange, Accesses&)> visit);

  /// Calls visit(piece, accesses) for the parts of `range` that have been touched.
  void look(ByteRange range, FunctionRef<void(ByteRange, const Accesses&)> visit) const;

  /// Forgets stamps that can no longer be in conflict with anything.
  void forget(FunctionRef<bool(const Stamp&)> is_over);

  void clear() noexcept { pieces_.clear(); }
  [[nodiscard]] std::size_t size() const noexcept { return pieces_.size(); }

 private:
  struct Piece {
    std::uintptr_t end;
    Accesses accesses;
  };
  using Pieces = std::map<std::uintptr_t, Piece>;
  /// The first piece that ends behind `at`, cut so that none crosses it.
  Pieces::iterator cut(std::uintptr_t at);

  Pieces pieces_;  // by begin; disjoint
};

}  // namespace baton::chip
