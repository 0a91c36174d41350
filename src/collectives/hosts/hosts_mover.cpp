#include "collectives/hosts/hosts_mover.hpp"

#include <utility>

#include "collectives/hosts/rounds.hpp"
#include "collectives/hosts/straight.hpp"
#include "collectives/traced.hpp"

namespace baton::collectives {

HostsMover::HostsMover(Domain domain)
    : map_(domain),
      here_(domain.subset_here("collectives on one host")),
      mover_(here_, std::nullopt, PeerMemory::Within::processor, RankNames{domain.name(), map_.ranks(map_.here())}),
      link_(domain, map_) {
  mover_.look_further([this] { link_.look(); });
}

template <class Body>
void HostsMover::take_back_if_it_fails(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    // The memory may be the caller's.
    link_.take_back();
    // Inside a host members have other numbers.
    if (error.code() == Code::peer_died) link_.check_members();
    throw;
  } catch (...) {
    link_.take_back();
    throw;
  }
}

template <class Body>
void HostsMover::make(const Domain& me, const Request& request, const Body& body) {
  const TracedCollective traced(me, request.call, "between hosts", contribution_bytes(request.call, map_.size()));
  const auto details = static_cast<std::uint64_t>(request.algorithm);
  take_back_if_it_fails([&] {
    link_.begin(request.call, details, request.timeout);
    mover_.begin(request.call, details, 0, request.timeout);
    body(Rounds(map_, mover_, link_, request));
    mover_.end();
  });
}

void HostsMover::make_straight(const Domain& me, Rounds& rounds) {
  const Request& request = rounds.request();
  const TracedCollective traced(me, request.call, "between hosts", contribution_bytes(request.call, map_.size()));
  const auto exchange_here = [&] {
    const int first = map_.ranks(map_.here()).front();
    const std::size_t elements = request.call.count * static_cast<std::size_t>(here_.size());
    Request inside;
    inside.call = request.call;
    inside.in = ConstData(rounds.in_block(first), elements, request.call.element);
    inside.out = Data(rounds.out_block(first), elements, request.call.element);
    inside.timeout = request.timeout;
    collectives::run(here_, mover_, mover_, inside);
  };
  take_back_if_it_fails([&] {
    link_.begin(request.call, static_cast<std::uint64_t>(request.algorithm), request.timeout);
    run_straight(rounds, exchange_here);
  });
}

void HostsMover::run(const Domain& me, const Request& request) {
  if (Rounds rounds(map_, mover_, link_, request); goes_straight(rounds)) return make_straight(me, rounds);
  make(me, request, [&](Rounds rounds) {
    switch (request.call.operation) {
      case Operation::barrier: return run_barrier(rounds);
      case Operation::broadcast: return run_broadcast(rounds);
      case Operation::reduce: return run_reduce(rounds);
      case Operation::allreduce: return run_allreduce(rounds);
      case Operation::reduce_scatter: return run_reduce_scatter(rounds);
      case Operation::allgather:
      case Operation::gather: return run_gather(rounds);
      case Operation::scatter: return run_scatter(rounds);
      case Operation::all_to_all: return run_all_to_all(rounds);
      case Operation::all_to_all_v: break;
    }
  });
}

void HostsMover::run_all_to_all_v(const Domain& me, const Request& request, std::span<const std::size_t> send_counts,
                                  std::span<const std::size_t> receive_counts) {
  make(me, request, [&](Rounds rounds) { collectives::run_all_to_all_v(rounds, send_counts, receive_counts); });
}

void HostsMover::send(int to, const std::byte* data, std::size_t bytes, std::uint64_t fingerprint,
                      std::chrono::nanoseconds timeout) {
  if (map_.host_of(to) == map_.here()) return mover_.send(map_.index_of(to), data, bytes, fingerprint, timeout);
  link_.send_mail(to, data, bytes, fingerprint, timeout);
}

void HostsMover::receive(int from, std::byte* data, std::size_t bytes, std::uint64_t fingerprint,
                         std::chrono::nanoseconds timeout) {
  if (map_.host_of(from) == map_.here()) return mover_.receive(map_.index_of(from), data, bytes, fingerprint, timeout);
  link_.receive_mail(from, data, bytes, fingerprint, timeout);
}

void HostsMover::give_up(const Error& error) noexcept {
  static_cast<void>(mover_.give_up(error.code()));
  // A death is known to all, and everybody has a deadline of its own.
  if (error.code() == Code::mismatch || error.code() == Code::peer_left) link_.complain(error);
}

}  // namespace baton::collectives
