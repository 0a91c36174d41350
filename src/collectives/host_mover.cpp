#include "collectives/host_mover.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "base/parking.hpp"
#include "collectives/arithmetic.hpp"
#include "collectives/copy_past_caches.hpp"

namespace baton::collectives {
namespace {

using Word = std::atomic_ref<std::uint64_t>;

RankNames own_names(const Domain& domain) {
  RankNames names{domain.name(), std::vector<int>(static_cast<std::size_t>(domain.size()))};
  std::iota(names.ranks.begin(), names.ranks.end(), 0);
  return names;
}

}  // namespace

HostMover::HostMover(Domain domain, std::optional<StagingRing> ring, PeerMemory::Within within,
                     const std::optional<RankNames>& names)
    : Mover(domain.rank(), domain.size()),
      layout_(domain.size()),
      ring_(ring.value_or(ring_of(domain.size()))),
      names_(names ? *names : own_names(domain)),
      scratch_(domain.raw_window("collectives", layout_.bytes)),
      memory_(*this, scratch_, within),
      begun_(static_cast<std::size_t>(domain.size())),
      chunks_sent_(static_cast<std::size_t>(domain.size())),
      chunks_received_(static_cast<std::size_t>(domain.size())) {
  for (int rank = 0; rank < size(); ++rank) parts_.push_back(scratch_.part(rank));
  begun_[static_cast<std::size_t>(rank())] = std::numeric_limits<std::uint64_t>::max();
}

void HostMover::begin(const Call& call, std::uint64_t details, std::size_t contribution_bytes,
                      std::chrono::nanoseconds timeout) {
  ++calls_;
  fingerprint_ = fingerprint_of(call);
  history_ = hash_with(hash_with(history_, fingerprint_), details);
  contribution_bytes_ = contribution_bytes;
  timeout_ = timeout;
  all_have_begun_ = false;
  past_caches_ = false;
  watch(name_of(call.operation).data());
  begin_round();
  // The records and the contributions that this call and the next ones replace are no longer needed; until then there
  // is no room for others.
  constexpr std::uint64_t kAtOnce = 4;
  static_assert(kRecords % kAtOnce == 0);
  if (calls_ >= kRecords && calls_ % kAtOnce == 0) {
    is_recorded_ = true;
    wait_finished(calls_ - kRecords + kAtOnce - 1);
  }
  is_recorded_ = false;
}

bool HostMover::fill_record() noexcept {
  if (is_recorded_) return false;
  is_recorded_ = true;
  auto& record = at<RecordLine>(rank(), record_offset());
  Word(record.fingerprint).store(fingerprint_, std::memory_order_relaxed);
  Word(record.history).store(history_, std::memory_order_relaxed);
  return true;
}

void HostMover::record() {
  if (fill_record()) scratch_.advance(rank(), record_offset() + offsetof(RecordLine, state), begun(calls_));
}

void HostMover::begin_round() noexcept {
  ++rounds_;
  steps_ = 0;
}

void HostMover::expect_traffic(std::size_t bytes) { past_caches_ = bytes >= more_than_caches_hold(); }

void HostMover::end() {
  if (all_have_begun_) {
    finished_by_all_ = calls_ - 1;
  } else {
    record();
  }
  ended_ = calls_;
  fetch_for_next_call();
}

void HostMover::fetch_for_next_call() const noexcept {
  __builtin_prefetch(&at<RecordLine>(rank(), record_offset(calls_ + 1)), 1);
  if (contribution_bytes_ <= kInlineBytes) return;
  constexpr std::size_t kMost = 8 * kLine;
  const std::byte* next = slot_of(rank(), calls_ + 1);
  for (std::size_t i = 0; i < std::min(contribution_bytes_, kMost); i += kLine) __builtin_prefetch(next + i, 1);
}

std::size_t HostMover::next_staging(std::size_t bytes) {
  // Others may wait for this call as this rank does.
  if (streamed_in_ + 1 == calls_) record();
  wait_finished(gave_in_);
  staged_in_ = calls_;
  ++staged_;
  const std::size_t room = (bytes + kLine - 1) / kLine * kLine;
  const std::size_t places = std::clamp<std::size_t>(layout_.staging_bytes / std::max(room, kLine), 1, kPlaces);
  return layout_.staging + staged_ % 2 * layout_.staging_bytes + staged_ / 2 % places * room;
}

void HostMover::begin_stream(bool gives) {
  record();
  streamed_in_ = calls_;
  if (!gives) return;
  wait_finished(staged_in_);
  staged_in_ = gave_in_ = calls_;
}

void HostMover::wait_finished(std::uint64_t call) {
  if (finished_by_all_ >= call) return;
  std::uint64_t least = calls_;
  for (int peer = 0; peer < size(); ++peer) {
    std::uint64_t& last = begun_[static_cast<std::size_t>(peer)];
    if (last <= call) [[unlikely]]
      last = wait_begun(peer, call + 1);
    least = std::min(least, last);
  }
  finished_by_all_ = least - 1;
}

std::uint64_t HostMover::wait_begun(int peer, std::uint64_t call) {
  // Pairs with the stores in record() and announce(). More often than not the other is further than needed.
  const Word latest(at<RecordLine>(peer, record_offset(calls_ - 1)).state);
  const std::uint64_t state = latest.load(std::memory_order_acquire);
  const std::uint64_t last = call_in(state);
  if (last >= call) {
    if (checked_) note_seen(peer, record_offset(calls_ - 1) + offsetof(RecordLine, state), state);
    return last;
  }
  wait_word(peer, record_offset(call) + offsetof(RecordLine, state), begun(call), Needed::owner);
  return call;
}

std::byte* HostMover::room() {
  if (contribution_bytes_ <= kInlineBytes) return at<RecordLine>(rank(), record_offset()).contribution;
  return slot_of(rank(), calls_);
}

void HostMover::announce() {
  static_cast<void>(fill_record());
  scratch_.advance(rank(), record_offset() + offsetof(RecordLine, state), announced(calls_));
}

void HostMover::wait_announced(int peer) {
  wait_word(peer, record_offset() + offsetof(RecordLine, state), announced(calls_), Needed::owner);
  check_agreement(peer);
  begun_[static_cast<std::size_t>(peer)] = calls_;
}

const std::byte* HostMover::contribution(int peer) const {
  if (contribution_bytes_ <= kInlineBytes) return at<RecordLine>(peer, record_offset()).contribution;
  return slot_of(peer, calls_);
}

bool HostMover::arrive() {
  if (fill_record()) {
    if (checked_) {
      scratch_.note_change(rank(), record_offset() + offsetof(RecordLine, state), NotifyOp::set,
                           static_cast<std::int64_t>(begun(calls_)));
    }
    // Pairs with the load in agrees(). A rank that would wait for it waits at this meeting.
    Word(at<RecordLine>(rank(), record_offset()).state).store(begun(calls_), std::memory_order_release);
  }
  ++meetings_;
  Word arrived(at<ArrivalLine>(0, Layout::kArrivalsAt).arrived);
  constexpr std::size_t kArrivedAt = Layout::kArrivalsAt + offsetof(ArrivalLine, arrived);
  if (checked_) scratch_.note_change(0, kArrivedAt, NotifyOp::add, 1);
  // Releases what this rank wrote before, and acquires what the others released: the last has all.
  const std::uint64_t earlier = arrived.fetch_add(1, std::memory_order_acq_rel);
  missing_ = meetings_ * static_cast<std::uint64_t>(size()) - earlier - 1;
  if (missing_ != 0) return false;
  if (checked_) note_seen(0, kArrivedAt, meetings_ * static_cast<std::uint64_t>(size()));
  if (!all_have_begun_) {
    all_have_begun_ = true;
    for (int peer = 0; peer < size(); ++peer) {
      if (agrees(peer)) continue;
      auto& line = at<ReleaseLine>(0, Layout::kReleaseAt);
      Word(line.judge).store(static_cast<std::uint64_t>(rank()), std::memory_order_relaxed);
      Word(line.disagree).store(static_cast<std::uint64_t>(peer) + 1, std::memory_order_relaxed);
      scratch_.advance(0, Layout::kReleaseAt, meetings_);
      throw_mismatch(rank(), peer);
    }
  }
  return true;
}

void HostMover::release() { scratch_.advance(0, Layout::kReleaseAt, meetings_); }

void HostMover::wait_released() {
  if (missing_ == 1) {
    // With more ranks than processors the last one often runs now: another has just made room for it.
    const Word released(at<std::uint64_t>(0, Layout::kReleaseAt));
    // Pairs with the store in RawWindow::advance().
    look_for_a_moment([&] { return released.load(std::memory_order_acquire) >= meetings_; });
  }
  wait_word(0, Layout::kReleaseAt, meetings_, Needed::every_member);
  all_have_begun_ = true;
  auto& line = at<ReleaseLine>(0, Layout::kReleaseAt);
  const std::uint64_t disagree = Word(line.disagree).load(std::memory_order_relaxed);
  if (disagree != 0) [[unlikely]] {
    throw_mismatch(static_cast<int>(Word(line.judge).load(std::memory_order_relaxed)), static_cast<int>(disagree - 1));
  }
}

std::byte* HostMover::common() {
  if (contribution_bytes_ <= kInlineBytes) return at<ReleaseLine>(0, Layout::kReleaseAt).common;
  return &at<std::byte>(0, layout_.common);
}

void HostMover::step() {
  record();
  scratch_.advance(rank(), Layout::kProgressAt, (rounds_ << kRoundShift) + ++steps_);
}

bool HostMover::has_made(int peer, std::uint64_t steps) const {
  // Only a look: wait_step() acquires.
  const Word progress(at<std::uint64_t>(peer, Layout::kProgressAt));
  return progress.load(std::memory_order_relaxed) >= (rounds_ << kRoundShift) + steps;
}

void HostMover::wait_step(int peer, std::uint64_t steps) {
  wait_word(peer, Layout::kProgressAt, (rounds_ << kRoundShift) + steps, Needed::owner);
  check_agreement(peer);
  begun_[static_cast<std::size_t>(peer)] = calls_;
}

void HostMover::copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kWorthIt = 4096;
  if (bytes == 0 || to == from) return;
  note_read(from, bytes);
  note_write(to, bytes);
  // Others take what lies in the scratch window soon.
  const bool past_caches = past_caches_ && bytes >= kWorthIt && !is_in_scratch(to);
  for (std::size_t done = 0; done < bytes; done += kBlockBytes) {
    if (done != 0) look_up();
    const std::size_t block = std::min(kBlockBytes, bytes - done);
    if (past_caches) {
      copy_past_caches(to + done, from + done, block);
    } else {
      std::memcpy(to + done, from + done, block);
    }
  }
}

void HostMover::note_reads(std::span<const std::byte* const> from, std::size_t bytes) const {
  for (const std::byte* source : from) note_read(source, bytes);
}

void HostMover::reduce(std::byte* to, std::span<const std::byte* const> from, std::size_t count, Element element,
                       ReduceOp op, std::uint32_t divisor) {
  const std::size_t element_bytes = size_of(element);
  if (checked_) note_reads(from, count * element_bytes);
  note_write(to, count * element_bytes);
  const std::size_t block = std::max<std::size_t>(kBlockBytes / (from.size() * element_bytes), 1);
  if (count <= block) return reduce_elements(to, from, count, element, op, divisor);
  Sources rest(static_cast<int>(from.size()));
  for (std::size_t done = 0; done < count; done += block) {
    if (done != 0) look_up();
    for (std::size_t i = 0; i < from.size(); ++i) rest[static_cast<int>(i)] = from[i] + done * element_bytes;
    reduce_elements(to + done * element_bytes, rest.all(), std::min(block, count - done), element, op, divisor);
  }
}

}  // namespace baton::collectives
