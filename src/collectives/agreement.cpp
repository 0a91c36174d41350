// How ranks notice that they made different calls, also while they wait for what will never come, and that another has
// given a call up.
#include <limits>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "collectives/host_mover.hpp"
#include "collectives/patience.hpp"

namespace baton::collectives {
namespace {

using Word = std::atomic_ref<std::uint64_t>;

}  // namespace

void HostMover::wait_longer(int owner, std::size_t offset, std::uint64_t value, Needed needed) {
  record();
  fetch_for_next_call();  // while nothing else is to be done
  const std::chrono::nanoseconds timeout = timeout_or_default(timeout_);
  const auto reach = [&](std::chrono::nanoseconds time) {
    return scratch_.reaches_within(owner, offset, value, needed, time);
  };
  if (reach_or_look(timeout, reach, [this] { look_around(); })) return;
  throw Error(Code::wait_timeout,
              fmt::format("rank {} waited {} s for {}", number(rank()), std::chrono::duration<double>(timeout).count(),
                          needed == Needed::owner ? fmt::format("rank {}", number(owner)) : "all ranks to arrive"),
              {scratch_.activity_of(owner)});
}

void HostMover::disagree_with(int peer) {
  record();
  throw_mismatch(rank(), peer);
}

void HostMover::look_around() const {
  for (int peer = 0; peer < size(); ++peer) {
    const bool has_begun =
        call_in(Word(at<RecordLine>(peer, record_offset()).state).load(std::memory_order_acquire)) == calls_;
    if (has_begun && !agrees(peer)) throw_mismatch(rank(), peer);
  }
  if (look_further_) look_further_();
  // Pairs with close() in give_up().
  if (!is_given_up(first_given_up().load(std::memory_order_acquire))) return;
  for (int peer = 0; peer < size(); ++peer) {
    auto& line = at<GivenUpLine>(peer, Layout::kGivenUpAt);
    const auto code = static_cast<Code>(Word(line.code).load(std::memory_order_relaxed));
    if (!is_given_up(Word(line.call).load(std::memory_order_relaxed)) || code != Code::mismatch) continue;
    // It makes no call any more, and may have noticed in one that this rank has not made, or has left behind.
    for (int other = 0; other < size(); ++other) {
      if (first_disagreement(peer, other) != 0) throw_mismatch(peer, other);
    }
  }
}

std::optional<int> HostMover::give_up(Code code) noexcept {
  const std::uint64_t call = ended_ + 1;
  auto& mine = at<GivenUpLine>(rank(), Layout::kGivenUpAt);
  // Released by close(); pairs with the loads in throw_given_up().
  Word(mine.code).store(static_cast<std::uint64_t>(code), std::memory_order_relaxed);
  Word(mine.call).store(call, std::memory_order_relaxed);
  WriteGate::close(first_given_up(), call);
  // Pairs with the one in check_kept().
  order_stores();
  return memory_.take_back(call);
}

void HostMover::throw_given_up() const {
  for (int peer = 0; peer < size(); ++peer) {
    auto& line = at<GivenUpLine>(peer, Layout::kGivenUpAt);
    // The first one to give up is there; pairs with close() in give_up(), by the fence in check_kept() or the load in
    // enter().
    if (!is_given_up(Word(line.call).load(std::memory_order_relaxed))) continue;
    const auto code = static_cast<Code>(Word(line.code).load(std::memory_order_relaxed));
    look_around();
    if (code == Code::peer_died || code == Code::peer_left) look_for_a_death(peer);
    throw Error(code, fmt::format("rank {} has given this call up", number(peer)));
  }
  throw Error(Code::internal, "a call was given up by nobody");
}

void HostMover::look_for_a_death(int peer) const {
  constexpr std::chrono::nanoseconds kLongEnough = std::chrono::milliseconds(500);
  // It never comes to that: the wait throws, or ends at its deadline.
  static_cast<void>(scratch_.reaches_within(peer, Layout::kProgressAt, std::numeric_limits<std::uint64_t>::max(),
                                            Needed::owner, kLongEnough));
}

std::string HostMover::describe_record(int peer, std::uint64_t call) const {
  auto& record = at<RecordLine>(peer, record_offset(call));
  const std::uint64_t recorded = call_in(Word(record.state).load(std::memory_order_acquire));
  const std::string text = describe(call_of(Word(record.fingerprint).load(std::memory_order_relaxed)));
  if (recorded == call) return fmt::format("rank {} called {}", number(peer), text);
  return fmt::format("rank {} has not made call {}", number(peer), call);
}

std::uint64_t HostMover::first_disagreement(int a, int b) const {
  std::uint64_t first = 0;
  for (std::uint64_t slot = 0; slot < kRecords; ++slot) {
    auto& one = at<RecordLine>(a, record_offset(slot));
    auto& other = at<RecordLine>(b, record_offset(slot));
    const std::uint64_t call = call_in(Word(one.state).load(std::memory_order_acquire));
    if (call == 0 || call != call_in(Word(other.state).load(std::memory_order_acquire))) continue;
    const bool same =
        Word(one.fingerprint).load(std::memory_order_relaxed) ==
            Word(other.fingerprint).load(std::memory_order_relaxed) &&
        Word(one.history).load(std::memory_order_relaxed) == Word(other.history).load(std::memory_order_relaxed);
    if (!same && (first == 0 || call < first)) first = call;
  }
  return first;
}

void HostMover::throw_mismatch(int a, int b) const {
  const std::uint64_t found = first_disagreement(a, b);
  const std::uint64_t call = found != 0 ? found : calls_;
  std::vector<std::string> notes = {describe_record(a, call), describe_record(b, call)};
  const auto fingerprint = [&](int rank) {
    return Word(at<RecordLine>(rank, record_offset(call)).fingerprint).load(std::memory_order_relaxed);
  };
  if (fingerprint(a) == fingerprint(b))
    notes.emplace_back("they differ in the windows, the places in them, or the options");
  throw Error(Code::mismatch,
              fmt::format("ranks {} and {} of \"{}\" disagree about collective call {}", number(a), number(b),
                          names_.domain, call),
              std::move(notes));
}

}  // namespace baton::collectives
