// Moves data straight out of, or into, any memory of another rank, by a call of the system.
//
// A rank that gives a call up may use its memory for something else while others still reach for it. Those who have
// read look afterwards (HostMover::check_kept()); those who write show it first, and the owner waits for them
// (write_gate.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <baton/window.hpp>

#include "collectives/peer_memory.hpp"
#include "collectives/write_gate.hpp"

namespace baton::collectives {

class HostMover;

class MemoryMover {
 public:
  /// Collective over the domain of `host`, whose scratch window has the lines that ranks need for it.
  MemoryMover(const HostMover& host, const RawWindow& scratch, PeerMemory::Within within);

  /// Whether all members reach all memory of all; the same on all of them. Without that only bounce() is to be called.
  [[nodiscard]] bool is_open() const noexcept { return memory_.is_open(); }

  /// Both throw where there is no such memory, or its owner has gone.
  void read(int peer, const std::byte* from, std::byte* to, std::size_t bytes) const;
  /// To memory that `peer` said others may write to in this call.
  void write(int peer, const std::byte* from, std::byte* to, std::size_t bytes) const;
  void let_others_write() noexcept;
  /// Memory of this rank for what it reads, as long as it asks for no more.
  [[nodiscard]] std::byte* bounce(std::size_t bytes);

  /// After this rank has given `call` up: its memory is its own again. Returns a rank, if there is one, that is in the
  /// middle of writing there and does not go on; it may, later.
  [[nodiscard]] std::optional<int> take_back(std::uint64_t call) const noexcept;

 private:
  [[nodiscard]] WriteGate::Word& writing(int of) const;
  [[noreturn]] void throw_unreachable(int peer, int error) const;

  const HostMover& host_;
  PeerMemory memory_;
  std::vector<std::byte> bounce_;
  /// The last call in which others were let write to memory of this rank.
  std::uint64_t written_in_ = 0;
};

}  // namespace baton::collectives
