// Vectors over several hosts. Each lane takes its share of a vector. In the cost lines H is the number of hosts, N the
// bytes of a vector, l what a message takes from host to host.
#include "collectives/hosts/rounds.hpp"

namespace baton::collectives {
namespace {

/// Up to this size of a message its time counts, and not what the link carries.
constexpr std::size_t kShortMessage = std::size_t{16} * 1024;
/// The same between two hosts, where parts save half of the sums.
constexpr std::size_t kWholeOfTwo = std::size_t{256} * 1024;
/// The same where one host sends, and a chain of hosts waits for one after the other.
constexpr std::size_t kShortOfOne = std::size_t{64} * 1024;

class LaneVectors {
 public:
  /// A share of a lane goes in `messages`. Of a host with one member `place` takes the place of its staging area: all
  /// of the vector lies there in the end. Null: of no use.
  LaneVectors(Rounds& rounds, int messages, std::byte* place)
      : rounds_(rounds), bytes_(rounds.element_bytes()), place_(rounds.is_one_each() ? place : nullptr) {
    rounds_.use_lanes_for(rounds.call().count * bytes_);
    const std::size_t sent = static_cast<std::size_t>(rounds_.lanes() * messages) * rounds_.link().message_bytes();
    piece_ = std::min(rounds_.staging_bytes(), sent) / kLine * kLine / bytes_;
  }

  /// `cross(share)` is what a lane does with its share of a piece.
  template <class In, class Cross, class Out>
  void for_each_round(const In& in, const Cross& cross, const Out& out) {
    for_each_piece(rounds_.call().count, piece_, [&](std::size_t first, std::size_t count) {
      if (place_ != nullptr) rounds_.stage_at(place_ + first * bytes_);
      rounds_.round(
          place_ != nullptr ? 0 : count * bytes_, [&] { in(first * bytes_, count * bytes_); },
          [&] { cross(share_of(count, bytes_, rounds_.own_lane(), rounds_.lanes())); },
          [&] { out(first * bytes_, count); });
    });
  }

  void stage_input(std::size_t first, std::size_t bytes) {
    rounds_.here().copy(rounds_.own_stage(), rounds_.request().in.address() + first, bytes);
  }
  /// Each lane's share of the piece at `first`, from the staging area of `holder(lane)`.
  template <class Holder>
  void take_shares(std::size_t first, std::size_t count, const Holder& holder) {
    for (int lane = 0; lane < rounds_.lanes(); ++lane) {
      const Share share = share_of(count, bytes_, lane, rounds_.lanes());
      rounds_.here().copy(rounds_.request().out.address() + first + share.first * bytes_,
                          rounds_.stage(holder(lane)) + share.first * bytes_, share.count * bytes_);
    }
  }

  /// What the members of this host have of a share, reduced, and where it is.
  [[nodiscard]] std::byte* reduce_here(const Share& share) {
    rounds_.combine_members(share.first * bytes_, share.count);
    return rounds_.own_stage() + share.first * bytes_;
  }

  /// Each host sends its part of the share to all others. Cost: l; (H-1) N from each host.
  void exchange(std::byte* mine, std::size_t count) {
    rounds_.for_each_other_host([&](int host) { rounds_.send(host, mine, count * bytes_); });
    rounds_.combine_hosts(mine, count);
  }
  /// Each host reduces one part of the share and sends it to all others. Cost: 2 l; 2 (H-1)/H N from each host.
  void exchange_parts(std::byte* mine, std::size_t count) {
    const HostMap& map = rounds_.map();
    const auto part = [&](int host) { return share_of(count, bytes_, host, map.hosts()); };
    const auto at = [&](int host) { return mine + part(host).first * bytes_; };
    const auto size = [&](int host) { return part(host).count * bytes_; };
    rounds_.for_each_other_host([&](int host) { rounds_.send(host, at(host), size(host)); });
    rounds_.combine_hosts(at(map.here()), part(map.here()).count);
    rounds_.for_each_other_host([&](int host) { rounds_.expect(host, at(host), size(host)); });
    rounds_.for_each_other_host([&](int host) { rounds_.send(host, at(map.here()), size(map.here())); });
    rounds_.for_each_other_host([&](int host) { rounds_.receive_to(host, at(host), size(host)); });
  }

  /// From the root's host to all others; long ones from host to host. Cost: l, or (H-1) l; N into each host.
  void spread(const Share& share) {
    const HostMap& map = rounds_.map();
    const int root_host = rounds_.root_host();
    const std::size_t bytes = share.count * bytes_;
    const int distance = around(map.here(), -root_host, map.hosts());
    const std::byte* source = rounds_.stage(distance == 0 ? map.index_of(rounds_.call().root) : map.own_index());
    const std::byte* data = source + share.first * bytes_;
    const bool chain = bytes > kShortOfOne;
    if (distance != 0) {
      const int before = chain ? around(map.here(), -1, map.hosts()) : root_host;
      rounds_.receive_to(before, rounds_.own_stage() + share.first * bytes_, bytes);
    }
    if (chain) {
      if (distance + 1 < map.hosts()) rounds_.send(around(map.here(), 1, map.hosts()), data, bytes);
    } else if (distance == 0) {
      rounds_.for_each_other_host([&](int host) { rounds_.send(host, data, bytes); });
    }
  }

 private:
  Rounds& rounds_;
  std::size_t bytes_;  // of an element
  std::byte* place_;
  std::size_t piece_;
};

int carrier(int lane) { return lane; }

}  // namespace

void run_barrier(Rounds& rounds) {
  const auto nothing = [] {};
  rounds.round(
      0, nothing,
      [&] {
        rounds.for_each_other_host([&](int host) { rounds.send(host, nullptr, 0); });
        rounds.for_each_other_host([&](int host) { rounds.receive_to(host, nullptr, 0); });
      },
      nothing);
}

void run_broadcast(Rounds& rounds) {
  LaneVectors run(rounds, 1, rounds.request().out.address());
  const bool has_root = rounds.map().here() == rounds.root_host();
  const int root = rounds.map().index_of(rounds.call().root);
  run.for_each_round(
      [&](std::size_t first, std::size_t bytes) {
        if (rounds.is_root()) run.stage_input(first, bytes);
      },
      [&](const Share& share) { run.spread(share); },
      [&](std::size_t first, std::size_t count) {
        if (!rounds.is_root()) run.take_shares(first, count, [&](int lane) { return has_root ? root : lane; });
      });
}

void run_reduce(Rounds& rounds) {
  LaneVectors run(rounds, 1, rounds.is_root() ? rounds.request().out.address() : nullptr);
  const int root_host = rounds.root_host();
  run.for_each_round([&](std::size_t first, std::size_t bytes) { run.stage_input(first, bytes); },
                     [&](const Share& share) {
                       std::byte* mine = run.reduce_here(share);
                       if (rounds.map().here() != root_host) {
                         rounds.send(root_host, mine, share.count * rounds.element_bytes());
                       } else {
                         rounds.combine_hosts(mine, share.count);
                       }
                     },
                     [&](std::size_t first, std::size_t count) {
                       if (rounds.is_root()) run.take_shares(first, count, carrier);
                     });
}

void run_allreduce(Rounds& rounds) {
  const int hosts = rounds.map().hosts();
  LaneVectors run(rounds, hosts == 2 ? 1 : hosts, rounds.request().out.address());
  run.for_each_round([&](std::size_t first, std::size_t bytes) { run.stage_input(first, bytes); },
                     [&](const Share& share) {
                       std::byte* mine = run.reduce_here(share);
                       const std::size_t bytes = share.count * rounds.element_bytes();
                       if (bytes <= (hosts == 2 ? kWholeOfTwo : kShortMessage)) {
                         run.exchange(mine, share.count);
                       } else {
                         run.exchange_parts(mine, share.count);
                       }
                     },
                     [&](std::size_t first, std::size_t count) { run.take_shares(first, count, carrier); });
}

}  // namespace baton::collectives
