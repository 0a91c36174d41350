// A kernel as a member of a domain: its room, its signals, and the verbs that algorithms are written in (work.hpp).
//
// Signals are never reset. What a rank has counted so far lies beside its signals, in a line that nobody else writes,
// so that collectives of all kinds follow each other in one room without being told how many there were. A room in
// which members disagreed, or one of them failed, stays unusable.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <baton/comm_context.h>
#include <collectives/records.hpp>
#include <collectives/tile_elements.hpp>
#include <collectives/work.hpp>
#include <pto/comm/pto_comm_inst.hpp>

namespace baton::collectives {

/// `Elements` is OneElement<T>: it combines elements.
template <class Elements>
class BasicMember {
 public:
  /// `room` and `signals` lie in this rank's part of the window; the signals begin with a cache line and were zero
  /// before the first collective. Everybody has as much room.
  AICORE BasicMember(const CommContext* context, void* room, int64_t room_bytes, int32_t* signals, int64_t signal_count,
                     baton::kernel::Where where = baton::kernel::Where::current())
      : context_(context),
        room_(static_cast<std::byte*>(room)),
        room_bytes_(room_bytes),
        signals_(signals),
        layout_(static_cast<int>(context->rankNum)),
        where_(where),
        records_(context, signals, where) {
    if (baton::kernel::kChecks && signal_count < signals_needed(size())) {
      baton::kernel::fail(baton::kernel::place_of("collective", where_), BATON_KERNEL_INVALID_ARGUMENT,
                          "a collective of ", size(), " ranks needs ", signals_needed(size()), " signals, got ",
                          signal_count);
    }
    records_.check_counter(layout_.arrivals);
    meetings_ = signals_[SignalLayout::kMeetingsMade];
    base_ = signals_[SignalLayout::kStepsMade];
  }

  /// With tensors of the kernel, whose elements follow each other.
  template <class Room, class Signals>
  AICORE BasicMember(const CommContext* context, const Room& room, const Signals& signals,
                     baton::kernel::Where where = baton::kernel::Where::current())
      : BasicMember(context, room.line(where).data(), room.size() * static_cast<int64_t>(sizeof(*room.data())),
                    signals.line(where).data(), signals.size(), where) {}

  [[nodiscard]] AICORE int rank() const { return static_cast<int>(context_->rankId); }
  [[nodiscard]] AICORE int size() const { return static_cast<int>(context_->rankNum); }
  [[nodiscard]] AICORE std::byte* room() const { return room_; }
  [[nodiscard]] AICORE int64_t room_bytes() const { return room_bytes_; }

  /// This block is one of `blocks` of a task, whose signals follow each other from `first` on: one that fails ends the
  /// waits of all.
  AICORE void belong_to(int32_t* first, int blocks) { records_.belong_to(first, blocks); }

  /// Says to the others what this rank is about to do, once for each call. Fails if they do something else.
  AICORE void announce(const Called& called) { records_.begin(called); }
  AICORE void announce(Partners partners, const Called& called) { records_.begin(partners, called); }

  /// Before a collective, or a piece of one, that makes `steps` steps at most, on all ranks the same, and after it.
  AICORE void begin(int steps) {
    steps_ = 0;
    most_steps_ = steps;
    if (baton::kernel::kChecks && base_ >= kBroken - steps) fail_at_the_end();
  }
  AICORE void end() {
    // What was told lies in other lines than what save() writes back.
    if (most_steps_ > 0) dcci(signals_, ENTIRE_DATA_CACHE, CACHELINE_OUT);
    base_ += most_steps_;
    most_steps_ = 0;
    save();
  }

  AICORE void meet() {
    arrive();
    wait(layout_.arrivals, meetings_ * size());
  }
  /// For algorithms that others cut into pieces of work: this member does all of it.
  AICORE void meet_on_core() { meet(); }
  [[nodiscard]] AICORE static constexpr bool active() { return true; }
  /// The first half of a meeting; all have met when `arrivals()` has reached `arrivals_expected()`.
  AICORE void arrive() {
    if (baton::kernel::kChecks && meetings_ >= kBroken / size() - 1) fail_at_the_end();
    pipe_barrier(PIPE_ALL);
    for (int peer = 0; peer < size(); ++peer) notify(peer, layout_.arrivals, 1, pto::comm::NotifyOp::AtomicAdd);
    ++meetings_;
  }
  [[nodiscard]] AICORE int32_t* arrivals() const { return signals_ + layout_.arrivals; }
  [[nodiscard]] AICORE int32_t arrivals_expected() const { return meetings_ * size(); }

  AICORE void step() { ++steps_; }
  AICORE void tell(int peer) {
    int32_t& told = signals_[layout_.told + peer];
    const int32_t steps = base_ + steps_ - told;
    if (steps == 0) return;
    told += steps;
    pipe_barrier(PIPE_ALL);
    notify(peer, layout_.steps + rank(), steps, pto::comm::NotifyOp::AtomicAdd);
  }
  AICORE void wait_step(int peer, uint64_t steps) { wait(layout_.steps + peer, base_ + static_cast<int32_t>(steps)); }

  /// Messages: what lies in this rank's room is shown to `to`, which takes it. The pieces between two members are
  /// counted for themselves.
  AICORE void post(int to) {
    pipe_barrier(PIPE_ALL);
    count_up(layout_.sent + to);
    notify(to, layout_.posted + rank(), 1, pto::comm::NotifyOp::AtomicAdd);
  }
  AICORE void wait_posted(int from) { wait(layout_.posted + from, posted_expected(from)); }
  AICORE void take(int from) {
    pipe_barrier(PIPE_ALL);
    count_up(SignalLayout::kReceived + from);
    notify(from, layout_.taken + rank(), 1, pto::comm::NotifyOp::AtomicAdd);
  }
  AICORE void wait_taken(int to) { wait(layout_.taken + to, taken_expected(to)); }
  /// What these two wait for, for those who wait otherwise.
  [[nodiscard]] AICORE int32_t* posted(int from) const { return signals_ + layout_.posted + from; }
  [[nodiscard]] AICORE int32_t posted_expected(int from) const { return signals_[SignalLayout::kReceived + from] + 1; }
  [[nodiscard]] AICORE int32_t* taken(int to) const { return signals_ + layout_.taken + to; }
  [[nodiscard]] AICORE int32_t taken_expected(int to) const { return signals_[layout_.sent + to]; }

  [[nodiscard]] AICORE std::byte* at(const View& view, int peer) const {
    if (view.window == nullptr) return at(view.mine, peer);
    return pto::comm::CommRemotePtr(view.window, view.mine, peer, where_);
  }
  /// Where an address of this rank's part lies in that of `peer`.
  template <typename T>
  [[nodiscard]] AICORE T* at(T* mine, int peer) const {
    return records_.at(mine, peer);
  }

  AICORE void copy(void* to, const void* from, std::size_t bytes) {
    if (to == from) return;
    copy_line(static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), static_cast<int64_t>(bytes));
  }
  template <class Source>
  AICORE void combine(std::byte* to, int sources, const Source& source, std::size_t count, const Work& work,
                      uint32_t divisor) {
    const LineSource lines{&source, [](const void* context, int index) -> const std::byte* {
                             return (*static_cast<const Source*>(context))(index);
                           }};
    Elements::combine(work.element, to, sources, lines, static_cast<int64_t>(count), work.op, divisor);
  }

  /// Writes down what was counted, for the next kernel.
  AICORE void save() {
    signals_[SignalLayout::kMeetingsMade] = meetings_;
    signals_[SignalLayout::kStepsMade] = base_;
    dcci(signals_, SINGLE_CACHE_LINE, CACHELINE_OUT);
    dsb(DSB_DDR);
  }

  /// Ends the kernel, and the waits of the others: they learn that this rank failed.
  template <typename... Parts>
  [[noreturn]] AICORE void fail(Parts... parts) const {
    records_.fail(parts...);
  }

 private:
  /// Adds 1 to a word of the own lines.
  AICORE void count_up(int index) {
    ++signals_[index];
    dcci(signals_ + index, SINGLE_CACHE_LINE, CACHELINE_OUT);
    dsb(DSB_DDR);
  }
  [[noreturn]] AICORE void fail_at_the_end() const {
    fail("the signals of this window have counted as far as they can; make a new window");
  }
  AICORE void notify(int peer, int index, int32_t value, pto::comm::NotifyOp op) {
    pto::comm::Signal there(at(signals_ + index, peer));
    pto::comm::TNOTIFY(there, value, op, where_);
  }
  AICORE void wait(int index, int32_t value) {
    pto::comm::Signal here(signals_ + index);
    pto::comm::TWAIT(here, value, pto::comm::WaitCmp::GE, where_);
    records_.check_counter(index);
    pipe_barrier(PIPE_ALL);
  }

  const CommContext* context_;
  std::byte* room_;
  int64_t room_bytes_;
  int32_t* signals_;
  SignalLayout layout_;
  baton::kernel::Where where_;
  Records records_;
  int32_t meetings_ = 0;
  int32_t base_ = 0;  // steps of all calls before this one
  int32_t steps_ = 0;
  int32_t most_steps_ = 0;
};

template <typename T>
using Member = BasicMember<OneElement<T>>;

}  // namespace baton::collectives
