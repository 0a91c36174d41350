// How members notice that they called different things, before they wait for each other.
//
// A member that begins a call writes down what it calls, and then looks at what the others have written down: of two
// members that disagree, the later one sees it, because both write before they look. It leaves its verdict in its own
// lines and raises all counters that anybody waits for beyond what they can count; a member woken by that reads the
// verdict and fails, too. Counters never go back, so nobody can begin to wait too late.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <baton/comm_context.h>
#include <collectives/called.hpp>
#include <collectives/signal_layout.hpp>
#include <pto/comm/pto_comm_inst.hpp>
#include <pto/common/order.hpp>
#include <pto/instructions/far_access.hpp>
#include <pto/target/atomics.hpp>

namespace baton::collectives {

class Records {
 public:
  AICORE Records(const CommContext* context, int32_t* signals, kernel::Where where)
      : context_(context), signals_(signals), layout_(size()), where_(where) {}

  /// Blocks of one task have consecutive signals, from `first` on: when one of them fails, none goes on.
  AICORE void belong_to(int32_t* first, int blocks) {
    first_ = first;
    blocks_ = blocks;
  }

  [[nodiscard]] AICORE int rank() const { return static_cast<int>(context_->rankId); }
  [[nodiscard]] AICORE int size() const { return static_cast<int>(context_->rankNum); }
  [[nodiscard]] AICORE const SignalLayout& layout() const { return layout_; }

  /// Of an address in this rank's part: where it lies in that of `peer`.
  template <typename T>
  [[nodiscard]] AICORE T* at(T* mine, int peer) const {
    return pto::comm::CommRemotePtr(context_, mine, peer, where_);
  }

  /// Fails if the counter at `index` says that nobody can go on.
  AICORE void check_counter(int index) const {
    if (kernel::load_relaxed(signals_ + index) >= kBroken) repeat_verdict();
  }

  /// Before a collective. Fails if another member calls something else at this place in the order of calls.
  AICORE void begin(const Called& called) const {
    if (!kernel::kChecks) return;
    const int32_t call = signals_[SignalLayout::kCallsMade] + 1;
    write_record(call, called);
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank()) continue;
      Called theirs;
      if (read_record(peer, call, theirs) && !is_same(theirs, called)) disagree(peer, call, call);
      const Message message = message_of(peer);
      if (waits_for_later(peer, message) && calls_of(peer) < call) disagree(peer, call, kInMessage);
    }
  }

  /// Before a message. Fails if a partner has another idea of it, or does something else first.
  AICORE void begin(Partners partners, const Called& called) const {
    if (!kernel::kChecks) return;
    const Message mine = write_message(partners, called);
    if (partners.to >= 0) check_partner(partners.to, mine);
    if (partners.from >= 0 && partners.from != partners.to) check_partner(partners.from, mine);
  }

  /// Ends the kernel, and all waits of the others.
  template <typename... Parts>
  [[noreturn]] AICORE void fail(Parts... parts) const {
    pass_verdict(kNobody, signals_[SignalLayout::kCallsMade], 0);
    kernel::fail(place(), BATON_KERNEL_INVALID_ARGUMENT, parts...);
  }

 private:
  static constexpr int kNobody = -1;
  /// Instead of the number of a call: a message.
  static constexpr int32_t kInMessage = 0;

  /// What a member last sent or received. Numbers count the messages between two members in one direction.
  struct Message {
    Partners partners;
    int32_t to_number = 0;
    int32_t from_number = 0;
    Called called;
  };

  [[nodiscard]] AICORE BatonPlace place() const { return kernel::place_of("collective", where_); }
  [[nodiscard]] AICORE static int record_of(int32_t call) {
    return SignalLayout::kRecords + 4 * (call % SignalLayout::kRecordCount);
  }
  [[nodiscard]] AICORE static int place_word(int32_t call) {
    return SignalLayout::kPlaces + call % SignalLayout::kRecordCount;
  }
  [[nodiscard]] AICORE static bool is_same(const Called& one, const Called& other) {
    return one.kind() == other.kind() && one.count == other.count && one.place == other.place;
  }

  // Words that others read. Sequentially consistent where a member writes and then looks at another's: of two that do
  // so at once, one sees the other's.
  AICORE static int32_t look(const int32_t* word) { return kernel::load_in_order(word); }
  AICORE static void show(int32_t* word, int32_t value) { kernel::store_in_order(word, value); }
  /// Pairs with put(): a reader of a new value sees that what stands before it was invalid by then.
  AICORE static int32_t get(const int32_t* word) { return kernel::load_acquire(word); }
  AICORE static void put(int32_t* word, int32_t value) { kernel::store_release(word, value); }

  static constexpr int kCalledWords = 3;
  AICORE static void put_called(int32_t* words, const Called& called) {
    put(words, called.kind());
    put(words + 1, static_cast<int32_t>(static_cast<uint32_t>(called.count)));
    put(words + 2, static_cast<int32_t>(static_cast<uint32_t>(called.count >> 32U)));
  }
  AICORE static Called get_called(const int32_t* words) {
    const int32_t kind = get(words);
    const auto low = static_cast<uint32_t>(get(words + 1));
    const auto high = static_cast<uint32_t>(get(words + 2));
    return Called::from(kind, uint64_t{high} << 32U | low);
  }

  AICORE void write_record(int32_t call, const Called& called) const {
    int32_t* record = signals_ + record_of(call);
    kernel::store_relaxed(record, 0);
    put_called(record + 1, called);
    put(signals_ + place_word(call), static_cast<int32_t>(called.place));
    show(record, call);
    show(signals_ + SignalLayout::kCallsMade, call);
    publish();
  }
  /// Words of `peer` at `index`: where they are, or as they were just now if the peer is on another host.
  [[nodiscard]] AICORE const int32_t* words_of(int peer, int index, int count) const {
    return kernel::near_words(place(), at(signals_ + index, peer), count);
  }
  [[nodiscard]] AICORE int32_t look_at(int peer, int index) const { return look(words_of(peer, index, 1)); }

  /// False if `peer` has no record of that call: not yet, or not any more.
  AICORE bool read_record(int peer, int32_t call, Called& called) const {
    if (look_at(peer, record_of(call)) != call) return false;
    called = get_called(words_of(peer, record_of(call) + 1, kCalledWords));
    called.place = static_cast<uint32_t>(get(words_of(peer, place_word(call), 1)));
    return look_at(peer, record_of(call)) == call;
  }
  [[nodiscard]] AICORE int32_t calls_of(int peer) const { return look_at(peer, SignalLayout::kCallsMade); }

  AICORE Message write_message(Partners partners, const Called& called) const {
    Message made{partners, 0, 0, called};
    if (partners.to >= 0) made.to_number = ++signals_[layout_.messages_to + partners.to];
    if (partners.from >= 0) made.from_number = ++signals_[layout_.messages_from + partners.from];
    int32_t* words = signals_ + SignalLayout::kMessage;
    kernel::store_relaxed(words, 0);
    put(words + 1, made.to_number);
    put(words + 2, made.from_number);
    put_called(words + 3, called);
    show(words, (partners.to + 1) << 16 | (partners.from + 1));
    publish();
    return made;
  }
  /// Nobody's if there was none yet.
  [[nodiscard]] AICORE Message message_of(int peer) const {
    Message message;
    if (look_at(peer, SignalLayout::kMessage) == 0) return message;
    const int32_t* words = words_of(peer, SignalLayout::kMessage + 1, 2 + kCalledWords);
    message.to_number = get(words);
    message.from_number = get(words + 1);
    message.called = get_called(words + 2);
    const int32_t partners = look_at(peer, SignalLayout::kMessage);
    message.partners = {(partners >> 16) - 1, (partners & 0xffff) - 1};
    return message;
  }

  /// Whether `peer` is in a message with this rank, of which this rank has not begun its half.
  [[nodiscard]] AICORE bool waits_for_later(int peer, const Message& theirs) const {
    return (theirs.partners.to == rank() && theirs.to_number > signals_[layout_.messages_from + peer]) ||
           (theirs.partners.from == rank() && theirs.from_number > signals_[layout_.messages_to + peer]);
  }

  AICORE void check_partner(int peer, const Message& mine) const {
    const int32_t call = calls_of(peer);
    if (call > signals_[SignalLayout::kCallsMade]) disagree(peer, kInMessage, call);
    const Message theirs = message_of(peer);
    const bool takes_mine =
        mine.partners.to == peer && theirs.partners.from == rank() && theirs.from_number == mine.to_number;
    const bool sends_mine =
        mine.partners.from == peer && theirs.partners.to == rank() && theirs.to_number == mine.from_number;
    if (takes_mine || sends_mine) {
      const bool same = theirs.called.element == mine.called.element && theirs.called.count == mine.called.count;
      if (!same) disagree(peer, kInMessage, kInMessage);
    } else if (waits_for_later(peer, theirs)) {
      disagree(peer, kInMessage, kInMessage);
    }
  }

  [[noreturn]] PTO_COLD AICORE void disagree(int peer, int32_t my_call, int32_t their_call) const {
    pass_verdict(peer, my_call, their_call);
    say_verdict(rank());
  }

  PTO_COLD AICORE void pass_verdict(int other, int32_t my_call, int32_t their_call) const {
    for (int block = 0; block < blocks_; ++block) {
      int32_t* signals = first_ == nullptr ? signals_ : first_ + block * layout_.count;
      int32_t* verdict = signals + SignalLayout::kVerdict;
      put(verdict, other + 1);
      put(verdict + 1, my_call);
      put(verdict + 2, their_call);
      put(verdict + 3, static_cast<int32_t>(signals_ - signals));
      publish();
      for (int peer = 0; peer < size(); ++peer) {
        set(peer, signals + layout_.judge, rank() + 1);
        set(peer, signals + layout_.arrivals, kBroken);
        for (int index = layout_.steps; index < layout_.taken + size(); ++index) set(peer, signals + index, kBroken);
      }
    }
  }
  AICORE void set(int peer, int32_t* signal, int32_t value) const {
    const pto::comm::Signal there(at(signal, peer));
    pto::comm::TNOTIFY(there, value, pto::comm::NotifyOp::Set, where_);
  }

  [[noreturn]] PTO_COLD AICORE void repeat_verdict() const {
    // The member that broke the counters has said so before.
    say_verdict(look(signals_ + layout_.judge) - 1);
  }

  [[noreturn]] PTO_COLD AICORE void say_verdict(int judge) const {
    const int32_t* verdict = words_of(judge, SignalLayout::kVerdict, 4);
    const int other = get(verdict) - 1;
    const int32_t judge_call = get(verdict + 1);
    const int32_t other_call = get(verdict + 2);
    Records found = *this;  // among the signals of the block that found it
    found.signals_ += get(verdict + 3);
    kernel::Message text;
    if (other == kNobody) {
      add_all(text, "rank ", judge, " failed in this room, in its call ", judge_call, " or the one after it");
      kernel::fail(place(), BATON_KERNEL_MISMATCH, text.text());
    }
    const bool judge_first = judge < other;
    text.add("ranks disagree: ");
    found.say_what(text, judge_first ? judge : other, judge_first ? judge_call : other_call);
    text.add(", ");
    found.say_what(text, judge_first ? other : judge, judge_first ? other_call : judge_call);
    if (judge_call != kInMessage && judge_call == other_call) {
      if (found.only_places_differ(judge, other, judge_call)) {
        text.add("; they name different windows, or different places in them");
      }
      add_all(text, "; it is call ", judge_call, " of this room");
    }
    kernel::fail(place(), BATON_KERNEL_MISMATCH, text.text());
  }
  [[nodiscard]] AICORE bool only_places_differ(int one, int other, int32_t call) const {
    Called by_one;
    Called by_other;
    if (!read_record(one, call, by_one) || !read_record(other, call, by_other)) return false;
    if (by_one.place == 0 || by_other.place == 0 || by_one.place == by_other.place) return false;
    by_one.place = by_other.place;
    return is_same(by_one, by_other);
  }
  AICORE void say_what(kernel::Message& text, int peer, int32_t call) const {
    add_all(text, "rank ", peer, " called ");
    if (call == kInMessage) {
      const Message message = message_of(peer);
      return describe(text, message.partners, message.called);
    }
    Called called;
    if (read_record(peer, call, called)) return describe(text, called);
    text.add("something else");
  }

  /// Writes back what this rank has written, and drops what it has read of others.
  AICORE void publish() const {
    dcci(signals_, ENTIRE_DATA_CACHE, CACHELINE_OUT);
    dsb(DSB_DDR);
  }

  const CommContext* context_;
  int32_t* signals_;
  SignalLayout layout_;
  kernel::Where where_;
  int32_t* first_ = nullptr;
  int blocks_ = 1;
};

}  // namespace baton::collectives
