// The mover of one slice of a collective in a graph: does what lies between its two meetings, and leaves out the rest.
//
// It waits and notifies as a kernel does, but moves and combines data as host programs do, in place: the units of a
// simulated core are copies of this processor, and a tile is one copy more.
#pragma once

#include <vector>

#include <pto_async_kernel_api.h>
#include <collectives/member.hpp>
#include <pto/instructions/far_access.hpp>

#include "collectives/arithmetic.hpp"
#include "collectives/graph/collective_kernel.hpp"
#include "collectives/mover.hpp"

namespace baton::collectives {

/// How a slice waits and notifies; it combines nothing itself.
using WaitingMember = Member<uint8_t>;

class SlicedMember {
 public:
  /// `count` is that of the whole call, of which this slice does a part; `place` as in Called.
  SlicedMember(WaitingMember& real, const Slice& slice, int64_t* args, uint64_t count, uint32_t place = 0)
      : real_(real), slice_(slice), args_(args), count_(count), window_place_(place) {}

  [[nodiscard]] int rank() const { return real_.rank(); }
  [[nodiscard]] int size() const { return real_.size(); }
  [[nodiscard]] std::byte* room() const { return real_.room(); }
  [[nodiscard]] int64_t room_bytes() const { return real_.room_bytes(); }
  [[nodiscard]] std::byte* at(const View& view, int peer) const { return real_.at(view, peer); }
  [[nodiscard]] std::byte* at(std::byte* mine, int peer) const { return real_.at(mine, peer); }
  template <typename... Parts>
  [[noreturn]] void fail(Parts... parts) const {
    real_.fail(parts...);
  }

  void announce(Called called) {
    if (!is_first()) return;
    called.count = count_;
    called.place = window_place_;
    real_.announce(called);
  }
  void announce(Partners partners, Called called) {
    if (!is_first()) return;
    called.count = count_;
    real_.announce(partners, called);
  }
  void begin(int steps) { real_.begin(steps); }
  void end() {
    // The slice behind the last meeting waits for it.
    if (slice_.slice == slice_.slices - 1) defer_until_met();
    real_.end();
  }
  void meet() {
    if (slice_.slice == kWhole) return real_.meet();
    if (slice_.slice == met_) {
      real_.arrive();
      if (met_ + 2 < slice_.slices) defer_until_met();
    }
    ++met_;
  }
  /// A meeting in the middle of a slice.
  void meet_on_core() { real_.meet(); }
  [[nodiscard]] bool active() const { return slice_.slice == kWhole || slice_.slice == met_; }

  void step() { real_.step(); }
  void tell(int peer) { real_.tell(peer); }
  void wait_step(int peer, uint64_t steps) { real_.wait_step(peer, steps); }
  void copy(void* to, const void* from, std::size_t bytes) const {
    if (active() && bytes != 0 && to != from) kernel::copy_by_hand(place_, to, from, bytes);
  }
  void post(int to) {
    if (active()) real_.post(to);
  }
  void wait_posted(int from) {
    if (slice_.slice == met_) defer(real_.posted(from), real_.posted_expected(from));
    ++met_;
  }
  void take(int from) {
    if (active()) real_.take(from);
  }
  /// By a slice of its own: what came is complete before. Another one behind it sees why the wait ended.
  void wait_taken(int to) {
    if (slice_.slice == met_ + 1) defer(real_.taken(to), real_.taken_expected(to));
    ++met_;
  }
  template <class Source>
  void combine(std::byte* to, int sources, const Source& source, std::size_t count, const Work& work,
               uint32_t divisor) {
    if (!active()) return;
    Sources from(sources);
    for (int index = 0; index < sources; ++index) from[index] = source(index);
    if (kernel::has_far_memory()) return combine_far(to, sources, from, count, work, divisor);
    reduce_elements(to, from.all(), count, work.element, work.op, divisor);
  }

 private:
  /// What is on another host is fetched before, and a result for there sent after.
  void combine_far(std::byte* to, int sources, Sources& from, std::size_t count, const Work& work,
                   uint32_t divisor) const {
    const std::size_t bytes = count * work.element_bytes;
    std::vector<std::vector<std::byte>> fetched;
    for (int index = 0; index < sources; ++index) {
      if (!kernel::is_far(from[index], bytes)) continue;
      fetched.emplace_back(bytes);
      kernel::copy_by_hand(place_, fetched.back().data(), from[index], bytes);
      from[index] = fetched.back().data();
    }
    std::vector<std::byte> result(kernel::is_far(to, bytes) ? bytes : 0);
    reduce_elements(result.empty() ? to : result.data(), from.all(), count, work.element, work.op, divisor);
    if (!result.empty()) kernel::copy_by_hand(place_, to, result.data(), bytes);
  }
  [[nodiscard]] bool is_first() const { return slice_.slice == kWhole || slice_.slice == 0; }
  /// The task is complete when all have arrived.
  void defer_until_met() { defer(real_.arrivals(), real_.arrivals_expected()); }
  void defer(int32_t* signal, int32_t expected) {
    AsyncCtx completion = get_async_ctx(args_);
    save_expected_notification_counter(completion, signal, static_cast<uint32_t>(expected));
  }

  WaitingMember& real_;
  Slice slice_;
  int64_t* args_;
  uint64_t count_;
  uint32_t window_place_;
  BatonPlace place_ = kernel::place_of("collective", kernel::Where::unknown());
  int met_ = 0;
};

}  // namespace baton::collectives
