// All-to-all with blocks of different sizes: everybody shows its counts and its data, and takes from the others what is
// meant for it.
//
//   room:  counts to all | counts from all | x, as much of it as there is room for
//
// 2 b, n bytes fetched from each; 2 b more for each further piece of the longest x that does not fit into the room.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/called.hpp>
#include <collectives/work.hpp>
#include <pto/instructions/far_access.hpp>

namespace baton::collectives {

/// Bytes of the room in front of the data.
[[nodiscard]] AICORE constexpr std::size_t all_to_all_v_header_bytes(int ranks) {
  return (2 * static_cast<std::size_t>(ranks) * sizeof(int32_t) + 63) / 64 * 64;
}

template <class Member>
class AllToAllV {
 public:
  AICORE AllToAllV(Member& me, const Work& call)
      : me_(me), bytes_(call.element_bytes), header_(all_to_all_v_header_bytes(me.size())) {}

  AICORE void run(const std::byte* x, const int32_t* send_counts, std::byte* y, const int32_t* receive_counts) {
    check_room();
    const int64_t mine = checked_sum(send_counts);
    (void)checked_sum(receive_counts);
    me_.begin(0);
    const std::size_t count_bytes = static_cast<std::size_t>(me_.size()) * sizeof(int32_t);
    me_.copy(me_.room(), send_counts, count_bytes);
    me_.copy(me_.room() + count_bytes, receive_counts, count_bytes);
    stage(x, 0, mine);
    me_.meet();
    if (me_.active()) {
      const int64_t longest = check_counts(send_counts, receive_counts);
      fetch(y, receive_counts, 0);
      for (int64_t first = piece_; first < longest; first += piece_) {
        me_.meet_on_core();
        stage(x, first, mine);
        me_.meet_on_core();
        fetch(y, receive_counts, first);
      }
    }
    me_.meet();
    me_.end();
  }

 private:
  AICORE void check_room() {
    const auto room = static_cast<std::size_t>(me_.room_bytes());
    if (room < header_ + bytes_) {
      me_.fail("the room has ", me_.room_bytes(), " bytes; the counts of ", me_.size(), " ranks and an element of ",
               bytes_, " bytes need ", header_ + bytes_);
    }
    piece_ = static_cast<int64_t>((room - header_) / bytes_);
  }

  AICORE int64_t checked_sum(const int32_t* counts) const {
    int64_t sum = 0;
    for (int peer = 0; peer < me_.size(); ++peer) {
      if (counts[peer] < 0) me_.fail("rank ", me_.rank(), " has a count of ", counts[peer], " for rank ", peer);
      sum += counts[peer];
    }
    return sum;
  }

  /// Shows elements [first, first + piece) of x.
  AICORE void stage(const std::byte* x, int64_t first, int64_t count) {
    const int64_t left = count - first;
    if (left > 0) me_.copy(me_.room() + header_, x + size(first), size(left < piece_ ? left : piece_));
  }

  /// How many elements `peer` sends to each rank, then how many it expects of each. Until the next call.
  [[nodiscard]] AICORE const int32_t* sends_of(int peer) const {
    const auto* counts = reinterpret_cast<const int32_t*>(me_.at(me_.room(), peer));
    return kernel::near_words(kernel::place_of("all_to_all_v", kernel::Where::unknown()), counts, 2 * me_.size());
  }

  /// The length of the longest x, on all ranks the same. Counts that do not agree are an error on both sides.
  AICORE int64_t check_counts(const int32_t* send_counts, const int32_t* receive_counts) const {
    int64_t longest = 0;
    for (int peer = 0; peer < me_.size(); ++peer) {
      const int32_t* sends = sends_of(peer);
      const int32_t* receives = sends + me_.size();
      if (sends[me_.rank()] != receive_counts[peer]) {
        fail_counts(peer, sends[me_.rank()], me_.rank(), receive_counts[peer]);
      }
      if (receives[me_.rank()] != send_counts[peer]) {
        fail_counts(me_.rank(), send_counts[peer], peer, receives[me_.rank()]);
      }
      int64_t all = 0;
      for (int to = 0; to < me_.size(); ++to) all += sends[to];
      longest = all > longest ? all : longest;
    }
    return longest;
  }
  [[noreturn]] AICORE void fail_counts(int from, int32_t sent, int to, int32_t expected) const {
    me_.fail("rank ", from, " sends ", sent, " elements to rank ", to, ", which expects ", expected);
  }

  /// Takes what is meant for this rank of the elements [first, first + piece) that the others show.
  AICORE void fetch(std::byte* y, const int32_t* receive_counts, int64_t first) {
    int64_t received = 0;
    for (int from = 0; from < me_.size(); ++from) {
      int64_t begin = 0;
      const int32_t* sends = sends_of(from);
      for (int to = 0; to < me_.rank(); ++to) begin += sends[to];
      const int64_t end = begin + receive_counts[from];
      const int64_t shown = begin > first ? begin : first;
      const int64_t shown_end = end < first + piece_ ? end : first + piece_;
      if (shown < shown_end) {
        me_.copy(y + size(received + shown - begin), me_.at(me_.room(), from) + header_ + size(shown - first),
                 size(shown_end - shown));
      }
      received += receive_counts[from];
    }
  }

  [[nodiscard]] AICORE std::size_t size(int64_t count) const { return static_cast<std::size_t>(count) * bytes_; }

  Member& me_;
  std::size_t bytes_;
  std::size_t header_;
  int64_t piece_ = 0;
};

template <class Member>
AICORE void run_all_to_all_v(Member& me, const Work& call, const std::byte* x, const int32_t* send_counts, std::byte* y,
                             const int32_t* receive_counts) {
  me.announce(Called{.operation = Operation::all_to_all_v, .element = call.element});
  AllToAllV<Member>(me, call).run(x, send_counts, y, receive_counts);
}

}  // namespace baton::collectives
