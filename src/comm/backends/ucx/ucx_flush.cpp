// Waiting until what was sent has been done: who waits, who tells that it was, and who counts the posts of a host for
// that.
#include <algorithm>

#include "comm/backends/ucx/ucx_path.hpp"

namespace baton::ucx {

bool UcxPath::flush(comm::Flushed what, const Deadline& deadline) {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> awaited;
  {
    const std::lock_guard lock(mutex_);
    for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
      Peer& peer = peers_[rank];
      // A rank that leaves hurries those that wait to hear of it, and asks those of which it wants to hear.
      if (what == comm::Flushed::everything && peer.owed > peer.told_done) tell_done(rank);
      const bool asks = what == comm::Flushed::everything && !peer.posts.empty();
      if (peer.done_there.load(std::memory_order_relaxed) >= peer.last_put && !asks) continue;
      awaited.emplace_back(rank, peer.last_put);
      auto sending = std::make_unique<Sending>();
      sending->header = header_for(wire::PathKind::flush, rank);
      static_cast<void>(start_own(rank, std::move(sending)));
    }
  }
  const auto is_settled = [&](const std::pair<std::uint32_t, std::uint64_t>& one) {
    // Pairs with the store in take(); sequentially consistent because it is tested before sleeping.
    return peers_[one.first].done_there.load(std::memory_order_seq_cst) >= one.second || is_lost(one.first);
  };
  const auto all_settled = [&] {
    progress();
    return std::all_of(awaited.begin(), awaited.end(), is_settled) && (what == comm::Flushed::puts || posts_are_done());
  };
  return (awaited.empty() && what == comm::Flushed::puts) || all_settled() ||
         wait_until(parking_, all_settled, deadline, [] {});
}

void UcxPath::tell_done(std::uint32_t rank) {
  auto word = std::make_unique<Sending>();
  word->header = header_for(wire::PathKind::applied, rank);
  outbox_.emplace_back(rank, std::move(word));
}

void UcxPath::owe(std::uint32_t rank) {
  Peer& peer = peers_[rank];
  peer.owed = peer.done_here;
  if (std::exchange(peer.is_listed, true)) return;
  debts_.push_back(rank);
  has_debts_.store(true, std::memory_order_relaxed);
}

bool UcxPath::pay_old_debts() {
  bool any = false;
  std::erase_if(debts_, [&](std::uint32_t rank) {
    Peer& peer = peers_[rank];
    const bool is_old = std::exchange(peer.owed_before, peer.owed) == peer.owed;
    if (peer.owed > peer.told_done && !is_old) return false;
    if (peer.owed > peer.told_done) {
      tell_done(rank);
      any = true;
    }
    peer.is_listed = false;
    return true;
  });
  has_debts_.store(!debts_.empty(), std::memory_order_relaxed);
  return any;
}

void UcxPath::count_posts_done(Peer& peer, std::uint64_t up_to) noexcept {
  std::uint64_t done = 0;
  for (; !peer.posts.empty() && peer.posts.front() <= up_to; ++done) peer.posts.pop_front();
  if (done != 0) note_posts_done(done);
}

void UcxPath::note_posts_done(std::uint64_t done) noexcept {
  wire::RankBlock& block = wire::rank_block(place_.control, place_.rank);
  // Pairs with the load in posts_are_done(); sequentially consistent because doorbells are rung after it.
  const std::uint64_t all_done = block.posts_done.fetch_add(done, std::memory_order_seq_cst) + done;
  if (all_done != block.posts.load(std::memory_order_relaxed)) return;
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    if (host_of(rank) == host_of(place_.rank)) wire::doorbell_of(place_.control, rank).ring(place_.scope);
  }
}

bool UcxPath::posts_are_done() const noexcept {
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    if (host_of(rank) != host_of(place_.rank) || is_gone(rank)) continue;
    const wire::RankBlock& block = wire::rank_block(place_.control, rank);
    // Both pair with the additions of that rank, in note_posts_done() and post(); sequentially consistent because they
    // are tested before sleeping. Done first: a post that is begun between the loads was not awaited by anybody.
    const std::uint64_t done = block.posts_done.load(std::memory_order_seq_cst);
    if (done < block.posts.load(std::memory_order_seq_cst)) return false;
  }
  return true;
}

}  // namespace baton::ucx
