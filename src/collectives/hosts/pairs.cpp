// Blocks from each rank to each, over several hosts. A lane carries all blocks of the members that use it, one message
// to each host. Cost: l; L L' n from a host with L members to one with L'.
//
// In the staging area of who carries a lane:
//   for each host: blocks of the lane's members here for the members there    written by the members here, sent
//   for each other host: blocks of the lane's members there for those here    received, read by the members here
#include <numeric>
#include <vector>

#include "collectives/hosts/pieces.hpp"
#include "collectives/hosts/rounds.hpp"

namespace baton::collectives {
namespace {

/// `Counts` tells the elements of the block from a rank to another.
template <class Counts>
class PairRun {
 public:
  PairRun(Rounds& rounds, const Counts& counts, std::size_t longest)
      : rounds_(rounds), map_(rounds.map()), counts_(counts), longest_(longest) {
    piece_ = pieces_of(rounds, longest, [&](int lanes) {
      int most = 0;
      int most_sent = 0;
      for (int host = 0; host < map_.hosts(); ++host) {
        for (int lane = 0; lane < lanes; ++lane) {
          const int own = map_.members_of(host, lane, lanes).count;
          int all = own * map_.size();
          for (int other = 0; other < map_.hosts(); ++other) {
            if (other == host) continue;
            all += map_.members_of(other, lane, lanes).count * map_.count(host);
            most_sent = std::max(most_sent, own * map_.count(other));
          }
          most = std::max(most, all);
        }
      }
      staged_blocks_ = static_cast<std::size_t>(most);
      return BlocksInARound{most, most_sent};
    });
  }

  /// `in(rank)` and `out(rank)` are where the block for, and from, a rank begins.
  template <class In, class Out>
  void run(const In& in, const Out& out) {
    const int lane = map_.lane_of(map_.rank(), rounds_.lanes());
    for_each_piece(longest_, piece_, [&](std::size_t first, std::size_t count) {
      first_ = first;
      length_ = count;
      const std::size_t at = first * rounds_.element_bytes();
      const auto put_in = [&] {
        for (int host = 0; host < map_.hosts(); ++host) {
          std::byte* to = rounds_.stage(lane) + outgoing(lane, host) + before(map_.rank(), lane, map_.here(), host);
          for (const int rank : map_.ranks(host)) {
            const std::size_t bytes = bytes_of(map_.rank(), rank);
            rounds_.here().copy(to, in(rank) + at, bytes);
            to += bytes;
          }
        }
      };
      const auto cross = [&] {
        const int own = rounds_.own_lane();
        rounds_.for_each_other_host([&](int host) {
          rounds_.send(host, rounds_.own_stage() + outgoing(own, host), extent(map_.here(), own, host));
        });
        rounds_.for_each_other_host([&](int host) {
          rounds_.receive_to(host, rounds_.own_stage() + incoming(own, host), extent(host, own, map_.here()));
        });
      };
      const auto take_out = [&] {
        for (int rank = 0; rank < map_.size(); ++rank) {
          const int host = map_.host_of(rank);
          const int from = map_.lane_of(rank, rounds_.lanes());
          const std::size_t area = host == map_.here() ? outgoing(from, host) : incoming(from, host);
          const std::byte* block = rounds_.stage(from) + area + before(rank, from, host, map_.here());
          for (const int earlier : map_.ranks(map_.here())) {
            if (earlier == map_.rank()) break;
            block += bytes_of(rank, earlier);
          }
          rounds_.here().copy(out(rank) + at, block, bytes_of(rank, map_.rank()));
        }
      };
      rounds_.round(staged_blocks_ * count * rounds_.element_bytes(), put_in, cross, take_out);
    });
  }

 private:
  /// Of the block from one rank to another, what goes over in this round.
  [[nodiscard]] std::size_t bytes_of(int from, int to) const {
    const std::size_t count = counts_(from, to);
    return count <= first_ ? 0 : std::min(count - first_, length_) * rounds_.element_bytes();
  }
  /// The same of all blocks of one rank for a host.
  [[nodiscard]] std::size_t bytes_for(int from, int host) const {
    std::size_t bytes = 0;
    for (const int to : map_.ranks(host)) bytes += bytes_of(from, to);
    return bytes;
  }
  template <class Body>
  void for_each_member(int host, int lane, const Body& body) const {
    const LaneMembers members = map_.members_of(host, lane, rounds_.lanes());
    const auto first = static_cast<std::size_t>(members.first);
    for (std::size_t i = 0; i < static_cast<std::size_t>(members.count); ++i) body(map_.ranks(host)[first + i]);
  }
  /// The message from one host to another.
  [[nodiscard]] std::size_t extent(int from_host, int lane, int to_host) const {
    std::size_t bytes = 0;
    for_each_member(from_host, lane, [&](int rank) { bytes += bytes_for(rank, to_host); });
    return bytes;
  }
  /// What is in it before the blocks of `rank`.
  [[nodiscard]] std::size_t before(int rank, int lane, int from_host, int to_host) const {
    std::size_t bytes = 0;
    for_each_member(from_host, lane, [&](int other) {
      if (other < rank) bytes += bytes_for(other, to_host);
    });
    return bytes;
  }
  [[nodiscard]] std::size_t outgoing(int lane, int host) const {
    std::size_t bytes = 0;
    for (int other = 0; other < host; ++other) bytes += extent(map_.here(), lane, other);
    return bytes;
  }
  [[nodiscard]] std::size_t incoming(int lane, int host) const {
    std::size_t bytes = outgoing(lane, map_.hosts());
    for (int other = 0; other < host; ++other) {
      if (other != map_.here()) bytes += extent(other, lane, map_.here());
    }
    return bytes;
  }

  Rounds& rounds_;
  const HostMap& map_;
  const Counts& counts_;
  std::size_t longest_;
  std::size_t piece_ = 0;
  std::size_t staged_blocks_ = 0;
  std::size_t first_ = 0;
  std::size_t length_ = 0;
};

/// What each rank sends to each, and expects of each, as it told.
class CountTable {
 public:
  /// Collective: one round of its own within the call.
  CountTable(Rounds& rounds, std::span<const std::size_t> send_counts, std::span<const std::size_t> receive_counts)
      : ranks_(send_counts.size()), rows_(ranks_ * 2 * ranks_) {
    std::vector<std::uint64_t> mine(send_counts.begin(), send_counts.end());
    mine.insert(mine.end(), receive_counts.begin(), receive_counts.end());
    Request request;
    request.call = {Operation::allgather, Element::uint64, ReduceOp::sum, 0, mine.size()};
    request.in = ConstData(mine);
    request.out = Data(rows_);
    Rounds gathering(rounds.map(), rounds.here(), rounds.link(), request);
    run_gather(gathering);
  }
  [[nodiscard]] std::size_t sends(int from, int to) const noexcept { return row(from)[static_cast<std::size_t>(to)]; }
  [[nodiscard]] std::size_t expects(int to, int from) const noexcept {
    return row(to)[ranks_ + static_cast<std::size_t>(from)];
  }

 private:
  [[nodiscard]] const std::uint64_t* row(int rank) const noexcept {
    return rows_.data() + static_cast<std::size_t>(rank) * 2 * ranks_;
  }
  std::size_t ranks_;
  std::vector<std::uint64_t> rows_;
};

}  // namespace

void run_all_to_all(Rounds& rounds) {
  if (rounds.is_one_each()) return run_all_to_all_of_one_each(rounds);
  const auto counts = [&](int /*from*/, int /*to*/) { return rounds.call().count; };
  PairRun(rounds, counts, rounds.call().count)
      .run([&](int rank) { return rounds.in_block(rank); }, [&](int rank) { return rounds.out_block(rank); });
}

void run_all_to_all_v(Rounds& rounds, std::span<const std::size_t> send_counts,
                      std::span<const std::size_t> receive_counts) {
  const CountTable table(rounds, send_counts, receive_counts);
  const int ranks = rounds.map().size();
  std::size_t longest = 0;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      const std::size_t count = table.sends(from, to);
      if (count != table.expects(to, from))
        throw_counts_differ(from, count, rounds.call().element, to, table.expects(to, from));
      longest = std::max(longest, count);
    }
  }
  const auto at = [&](std::span<const std::size_t> counts, int rank) {
    return std::accumulate(counts.begin(), counts.begin() + rank, std::size_t{0}) * rounds.element_bytes();
  };
  const auto counts = [&](int from, int to) { return table.sends(from, to); };
  PairRun(rounds, counts, longest)
      .run([&](int rank) { return rounds.request().in.address() + at(send_counts, rank); },
           [&](int rank) { return rounds.request().out.address() + at(receive_counts, rank); });
}

}  // namespace baton::collectives
