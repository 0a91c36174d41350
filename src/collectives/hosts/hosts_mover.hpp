// Collectives of a domain whose members are on several hosts: through shared memory inside each host, by messages
// between them.
#pragma once

#include <chrono>
#include <span>

#include <baton/domain.hpp>
#include <baton/error.hpp>

#include "collectives/host_mover.hpp"
#include "collectives/hosts/host_map.hpp"
#include "collectives/hosts/link.hpp"
#include "collectives/run.hpp"

namespace baton::collectives {

class Rounds;

class HostsMover {
 public:
  /// Collective over the domain, which spans hosts.
  explicit HostsMover(Domain domain);
  HostsMover(const HostsMover&) = delete;
  HostsMover& operator=(const HostsMover&) = delete;
  ~HostsMover() = default;

  void run(const Domain& me, const Request& request);
  void run_all_to_all_v(const Domain& me, const Request& request, std::span<const std::size_t> send_counts,
                        std::span<const std::size_t> receive_counts);

  /// See baton::send().
  void send(int to, const std::byte* data, std::size_t bytes, std::uint64_t fingerprint,
            std::chrono::nanoseconds timeout);
  void receive(int from, std::byte* data, std::size_t bytes, std::uint64_t fingerprint,
               std::chrono::nanoseconds timeout);

  /// This rank makes no more calls: those that wait for it are told why, unless they know.
  void give_up(const Error& error) noexcept;

 private:
  /// Makes a call of all hosts in rounds.
  template <class Body>
  void make(const Domain& me, const Request& request, const Body& body);
  /// The same without them: inside a host it is a call of its own.
  void make_straight(const Domain& me, Rounds& rounds);
  template <class Body>
  void take_back_if_it_fails(const Body& body);

  HostMap map_;
  /// The members of this host.
  Domain here_;
  HostMover mover_;
  Link link_;
};

}  // namespace baton::collectives
