// All-to-all with blocks of different sizes: everybody shows its counts, then its blocks piece by piece.
//
// 2 b for the counts and 2 b for each piece of the longest block that fits into the room; n bytes fetched from each.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/work.hpp>

namespace baton::collectives {

template <class Member>
class AllToAllV {
 public:
  AICORE AllToAllV(Member& me, const Work& call) : me_(me), bytes_(call.element_bytes) {}

  AICORE void run(const std::byte* x, const int32_t* send_counts, std::byte* y, const int32_t* receive_counts) {
    const int64_t longest = exchange_counts(send_counts, receive_counts);
    const auto ranks = static_cast<std::size_t>(me_.size());
    const auto piece = static_cast<int64_t>(static_cast<std::size_t>(me_.room_bytes()) / ranks / bytes_);
    if (piece == 0 && longest > 0) {
      me_.fail("the room has ", me_.room_bytes(), " bytes; an element of ", bytes_, " bytes for each of ", me_.size(),
               " ranks must fit into it");
    }
    for (int64_t first = 0; first < longest; first += piece) {
      me_.begin(0);
      move(send_counts, first, piece, [&](int peer, int64_t before, int64_t count) {
        me_.copy(slot(me_.room(), peer, piece), x + static_cast<std::size_t>(before) * bytes_, size(count));
      });
      me_.meet();
      move(receive_counts, first, piece, [&](int peer, int64_t before, int64_t count) {
        me_.copy(y + static_cast<std::size_t>(before) * bytes_, slot(me_.at(me_.room(), peer), me_.rank(), piece),
                 size(count));
      });
      me_.meet();
      me_.end();
    }
  }

 private:
  /// The longest of all blocks, on all ranks the same. Counts that do not agree are an error on both sides.
  AICORE int64_t exchange_counts(const int32_t* send_counts, const int32_t* receive_counts) {
    const std::size_t counts = static_cast<std::size_t>(me_.size()) * sizeof(int32_t);
    if (static_cast<std::size_t>(me_.room_bytes()) < counts) {
      me_.fail("the room has ", me_.room_bytes(), " bytes; the counts of ", me_.size(), " ranks need ", counts);
    }
    me_.begin(0);
    me_.copy(me_.room(), send_counts, counts);
    me_.meet();
    int64_t longest = 0;
    for (int from = 0; from < me_.size(); ++from) {
      const auto* theirs = reinterpret_cast<const int32_t*>(me_.at(me_.room(), from));
      if (theirs[me_.rank()] != receive_counts[from]) {
        me_.fail("rank ", from, " sends ", theirs[me_.rank()], " elements to rank ", me_.rank(), ", which expects ",
                 receive_counts[from]);
      }
      for (int to = 0; to < me_.size(); ++to) longest = theirs[to] > longest ? theirs[to] : longest;
    }
    me_.meet();
    me_.end();
    return longest;
  }

  /// Calls body(peer, elements before, count) for the part from `first` on of each peer's block.
  template <class Body>
  AICORE void move(const int32_t* counts, int64_t first, int64_t piece, const Body& body) {
    int64_t before = 0;
    for (int peer = 0; peer < me_.size(); ++peer) {
      const int64_t left = counts[peer] - first;
      if (left > 0) body(peer, before + first, left < piece ? left : piece);
      before += counts[peer];
    }
  }
  [[nodiscard]] AICORE std::size_t size(int64_t count) const { return static_cast<std::size_t>(count) * bytes_; }
  [[nodiscard]] AICORE std::byte* slot(std::byte* room, int peer, int64_t piece) const {
    return block_at(room, peer, size(piece));
  }

  Member& me_;
  std::size_t bytes_;
};

template <class Member>
AICORE void run_all_to_all_v(Member& me, const Work& call, const std::byte* x, const int32_t* send_counts, std::byte* y,
                             const int32_t* receive_counts) {
  AllToAllV<Member>(me, call).run(x, send_counts, y, receive_counts);
}

}  // namespace baton::collectives
