// A call over several hosts, in rounds: a piece of the data goes in, crosses, and comes out.
//
//   every member        copies its piece into the staging area of its host ─> step
//   who carries a lane  waits for the steps of its host ─> sends, receives, combines ─> step
//   every member        waits for the lanes of its host ─> copies out what it wants
//
// So nobody writes to a half of the staging area that another still reads: between two uses of it all members have
// made a step of the round between, and a lane has waited for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "collectives/host_mover.hpp"
#include "collectives/hosts/host_map.hpp"
#include "collectives/hosts/link.hpp"
#include "collectives/run.hpp"

namespace baton::collectives {

class Rounds {
 public:
  Rounds(const HostMap& map, HostMover& here, Link& link, const Request& request)
      : map_(map), here_(here), link_(link), request_(request), element_bytes_(size_of(request.call.element)) {}

  [[nodiscard]] const HostMap& map() const noexcept { return map_; }
  [[nodiscard]] HostMover& here() const noexcept { return here_; }
  [[nodiscard]] Link& link() const noexcept { return link_; }
  [[nodiscard]] const Request& request() const noexcept { return request_; }
  [[nodiscard]] const Call& call() const noexcept { return request_.call; }
  [[nodiscard]] std::size_t element_bytes() const noexcept { return element_bytes_; }
  [[nodiscard]] int root_host() const noexcept { return map_.host_of(call().root); }
  [[nodiscard]] bool is_root() const noexcept { return map_.rank() == call().root; }
  /// The lane that this rank carries, if it does.
  [[nodiscard]] int own_lane() const noexcept { return map_.own_index(); }
  [[nodiscard]] int lanes() const noexcept { return lanes_; }

  /// Every host has one member: nobody reads what it stages, and data may go from where it lies to where it belongs.
  [[nodiscard]] bool is_one_each() const noexcept { return map_.most_members() == 1; }
  /// Then this is where it stages in the rounds that follow.
  void stage_at(std::byte* place) noexcept { place_ = place; }

  /// As many lanes as `bytes` of one host are worth.
  void use_lanes_for(std::size_t bytes) noexcept {
    constexpr std::size_t kWorthALane = std::size_t{64} * 1024;  // docs/investigations/latency-between-hosts.md
    lanes_ =
        static_cast<int>(std::clamp<std::size_t>(bytes / kWorthALane, 1, static_cast<std::size_t>(map_.most_lanes())));
  }
  void use_all_lanes() noexcept { lanes_ = map_.most_lanes(); }

  /// One round in which each member of this host uses at most `staged` bytes of its staging area.
  template <class In, class Cross, class Out>
  void round(std::size_t staged, const In& in, const Cross& cross, const Out& out) {
    here_.begin_round();
    offset_ = here_.next_staging(staged);
    in();
    here_.step();
    if (own_lane() < lanes_) {
      for (int index = 0; index < here_.size(); ++index) {
        if (index != here_.rank()) here_.wait_step(index, 1);
      }
      cross();
      link_.settle();
      here_.step();
    }
    for (int lane = 0; lane < lanes_; ++lane) {
      if (lane != own_lane()) here_.wait_step(lane, 2);
    }
    out();
  }

  /// How many bytes that may be: the same on all hosts, which go through the same pieces.
  [[nodiscard]] std::size_t staging_bytes() const noexcept { return staging_bytes_of(map_.most_members()); }
  /// Where the member `index` of this host stages in this round.
  [[nodiscard]] std::byte* stage(int index) const noexcept {
    if (place_ != nullptr) return place_;
    return here_.parts()[static_cast<std::size_t>(index)] + offset_;
  }
  [[nodiscard]] std::byte* own_stage() const noexcept { return stage(map_.own_index()); }

  template <class Body>
  void for_each_other_host(const Body& body) const {
    // Different hosts begin with different ones.
    for (int distance = 1; distance < map_.hosts(); ++distance) body(around(map_.here(), distance, map_.hosts()));
  }

  /// Between the ranks of this host and of `host` that carry this rank's lane; see Link.
  void send(int host, const std::byte* data, std::size_t bytes) { link_.send(link_.lane(host), data, bytes); }
  void expect(int host, std::byte* to, std::size_t bytes) { link_.expect(link_.lane(host), to, bytes); }
  /// The next message goes to `to`.
  void receive_to(Link::Way& way, std::byte* to, std::size_t bytes) {
    const std::byte* const from = link_.receive(way, to, bytes);
    if (from != to) here_.copy(to, from, bytes);
    link_.release(way);
  }
  void receive_to(int host, std::byte* to, std::size_t bytes) { receive_to(link_.lane(host), to, bytes); }

  /// `count` elements at `at` become what the members of this host have there, reduced.
  void combine_members(std::size_t at, std::size_t count) {
    if (here_.size() == 1) return;
    here_.combine(
        own_stage() + at, here_.size(), [&](int index) { return stage(index) + at; }, count, work(), 1);
  }
  /// The same of what all hosts have: the others send it. The order is that of the hosts, on all of them.
  void combine_hosts(std::byte* to, std::size_t count) {
    for_each_other_host([&](int host) { static_cast<void>(link_.receive(link_.lane(host))); });
    // What was there before may be on its way.
    link_.settle();
    here_.combine(
        to, map_.hosts(), [&](int host) { return host == map_.here() ? to : link_.receive(link_.lane(host)); }, count,
        work(), call().op == ReduceOp::avg ? static_cast<std::uint32_t>(map_.size()) : 1);
    for_each_other_host([&](int host) { link_.release(link_.lane(host)); });
  }

  /// Where the block of `rank` lies in this rank's input, or in its output.
  [[nodiscard]] const std::byte* in_block(int rank) const noexcept {
    if (request_.form == Form::apart && call().operation == Operation::scatter) return apart(rank);
    return block_at(request_.in.address(), rank, call().count * element_bytes_);
  }
  [[nodiscard]] std::byte* out_block(int rank) const noexcept {
    if (request_.form == Form::apart) return apart(rank);
    return block_at(request_.out.address(), rank, call().count * element_bytes_);
  }

 private:
  [[nodiscard]] std::byte* apart(int rank) const noexcept { return request_.blocks[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Work work() const noexcept {
    Work work;
    work.element = call().element;
    work.op = call().op;
    work.element_bytes = element_bytes_;
    return work;
  }

  const HostMap& map_;
  HostMover& here_;
  Link& link_;
  const Request& request_;
  std::size_t element_bytes_;
  int lanes_ = 1;
  std::size_t offset_ = 0;
  std::byte* place_ = nullptr;
};

/// For each piece of `count` elements of at most `piece`: `body(first, elements)`. One, if there is nothing: members
/// that called something else learn of it.
template <class Body>
void for_each_piece(std::size_t count, std::size_t piece, const Body& body) {
  std::size_t first = 0;
  do {
    const std::size_t now = std::min(piece, count - first);
    body(first, now);
    first += now;
  } while (first < count);
}

[[nodiscard]] inline bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) noexcept {
  const std::less<> before;
  return before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

/// Vectors.
void run_barrier(Rounds& rounds);
void run_broadcast(Rounds& rounds);
void run_reduce(Rounds& rounds);
void run_allreduce(Rounds& rounds);
/// Blocks.
void run_gather(Rounds& rounds);  // and allgather
void run_scatter(Rounds& rounds);
void run_reduce_scatter(Rounds& rounds);
/// The same where every host has one member.
void run_gather_of_one_each(Rounds& rounds);
void run_scatter_of_one_each(Rounds& rounds);
void run_reduce_scatter_of_one_each(Rounds& rounds);
void run_all_to_all_of_one_each(Rounds& rounds);
/// Blocks from each to each.
void run_all_to_all(Rounds& rounds);
void run_all_to_all_v(Rounds& rounds, std::span<const std::size_t> send_counts,
                      std::span<const std::size_t> receive_counts);

}  // namespace baton::collectives
