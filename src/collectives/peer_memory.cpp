#include "collectives/peer_memory.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <random>

#include <baton/options.hpp>

#include "base/process_memory.hpp"

namespace baton::collectives {
namespace {

using Word = std::atomic_ref<std::uint64_t>;

/// All pairs have to be tried; among more ranks than this the staging area serves.
constexpr int kMostRanks = 64;

}  // namespace

PeerMemory::PeerMemory(const RawWindow& window, std::size_t offset, int rank, int size, Within within)
    : own_pid_(static_cast<std::uint32_t>(::getpid())), within_(within) {
  if (size > kMostRanks) return;
  const auto line = [&](int of) -> ProcessLine& { return *reinterpret_cast<ProcessLine*>(window.part(of) + offset); };
  const auto wait_for_all = [&](std::uint64_t state) {
    for (int peer = 0; peer < size; ++peer)
      window.wait_reached(peer, offset, state, Needed::owner, options().wait_timeout);
  };
  // A pid means nothing in another pid namespace, or stands for somebody else there; a number nobody else has tells.
  std::random_device random;
  const std::uint64_t sample = std::uint64_t{random()} << 32U | random();
  std::vector<std::uint64_t> replies(static_cast<std::size_t>(size));
  // Released by advance() below, acquired by the waits of the others.
  Word(line(rank).pid).store(own_pid_, std::memory_order_relaxed);
  Word(line(rank).sample_at).store(reinterpret_cast<std::uint64_t>(&sample), std::memory_order_relaxed);
  Word(line(rank).sample).store(sample, std::memory_order_relaxed);
  Word(line(rank).replies_at).store(reinterpret_cast<std::uint64_t>(replies.data()), std::memory_order_relaxed);
  window.advance(rank, offset, ProcessLine::kShown);
  wait_for_all(ProcessLine::kShown);
  bool reaches = true;
  for (int peer = 0; peer < size; ++peer) {
    pids_.push_back(static_cast<std::uint32_t>(Word(line(peer).pid).load(std::memory_order_relaxed)));
    const auto at = Word(line(peer).sample_at).load(std::memory_order_relaxed);
    std::uint64_t there = 0;
    // By the system also where the pid is this process's own: in another namespace it may be another one's, too.
    reaches = reaches && read_process_memory(pids_.back(), reinterpret_cast<const std::byte*>(at),
                                             reinterpret_cast<std::byte*>(&there), sizeof there) == 0;
    reaches = reaches && there == Word(line(peer).sample).load(std::memory_order_relaxed);
    const auto reply_at = Word(line(peer).replies_at).load(std::memory_order_relaxed) +
                          static_cast<std::uint64_t>(rank) * sizeof(std::uint64_t);
    reaches = reaches && write_process_memory(pids_.back(), reinterpret_cast<const std::byte*>(&there),
                                              reinterpret_cast<std::byte*>(reply_at), sizeof there) == 0;
  }
  window.advance(rank, offset, reaches ? ProcessLine::kReaches : ProcessLine::kDoesNotReach);
  // Until then others read the sample and write their replies.
  wait_for_all(ProcessLine::kDoesNotReach);
  is_open_ = true;
  for (int peer = 0; peer < size; ++peer) {
    // Pairs with the store in RawWindow::advance().
    if (Word(line(peer).state).load(std::memory_order_acquire) != ProcessLine::kReaches) is_open_ = false;
  }
}

int PeerMemory::read(int peer, const std::byte* from, std::byte* to, std::size_t bytes) const noexcept {
  const std::uint32_t pid = pids_[static_cast<std::size_t>(peer)];
  if (!shares(pid)) return read_process_memory(pid, from, to, bytes);
  if (bytes != 0) std::memcpy(to, from, bytes);
  return 0;
}

int PeerMemory::write(int peer, const std::byte* from, std::byte* to, std::size_t bytes) const noexcept {
  const std::uint32_t pid = pids_[static_cast<std::size_t>(peer)];
  if (!shares(pid)) return write_process_memory(pid, from, to, bytes);
  if (bytes != 0) std::memcpy(to, from, bytes);
  return 0;
}

bool PeerMemory::is_gone(int peer) const noexcept {
  // The system looks for the process before it looks for the byte.
  std::byte byte{};
  return read_process_memory(pids_[static_cast<std::size_t>(peer)], nullptr, &byte, 1) == ESRCH;
}

}  // namespace baton::collectives
