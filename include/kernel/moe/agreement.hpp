// How ranks notice that they made an exchange for different sizes, before they wait for each other.
//
// The first kernel of a rank that uses the window writes down its sizes there, and then looks at those of the others:
// of two ranks that disagree, the later one sees it, because both write before they look. It raises the counters that
// anybody waits for beyond what they can count; a rank that is woken by that, or comes later, fails, too.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <baton/comm_context.h>
#include <collectives/called.hpp>
#include <collectives/signal_layout.hpp>
#include <moe/layout.hpp>
#include <pto/comm/pto_comm_inst.hpp>
#include <pto/common/order.hpp>
#include <pto/instructions/far_access.hpp>
#include <pto/target/atomics.hpp>

namespace baton::moe {

class Agreement {
 public:
  /// Everything of it lies in front of what depends on the sizes.
  AICORE Agreement(const CommContext* context, uint8_t* window, kernel::Where where)
      : context_(context), window_(window), where_(where) {}

  /// Fails unless all ranks that have used the window until now have the same sizes, and elements of this type.
  AICORE void check(const Problem& problem, Element element) const {
    if (!kernel::kChecks) return;
    if (look(word(kJudge)) != 0) repeat_verdict();
    const Shown mine{problem, static_cast<int32_t>(element)};
    Shown shown;
    if (read(rank(), shown)) {
      if (!same(shown, mine)) disagree(rank(), shown, mine);
      return;
    }
    write(mine);
    for (int peer = 0; peer < ranks(); ++peer) {
      if (read(peer, shown) && !same(shown, mine)) disagree(peer, shown, mine);
    }
  }

  /// Ends the kernel, and all waits of the others.
  template <typename... Parts>
  [[noreturn]] AICORE void fail(BatonKernelError code, Parts... parts) const {
    // Windows of a domain have one size: if this one is too small for a verdict, all ranks fail by themselves.
    if (context_->winSize >= static_cast<uint64_t>(Layout::agreement() + Layout::kAgreementBytes))
      pass_verdict(kNobody);
    kernel::fail(place(), code, parts...);
  }

  /// After a wait.
  AICORE void check_counter(const int32_t* counter) const {
    if (kernel::load_relaxed(counter) >= collectives::kBroken) repeat_verdict();
  }

 private:
  struct Shown {
    Problem problem;
    int32_t element;
  };
  enum : int { kShownInts = sizeof(Shown) / sizeof(int32_t) };
  // In int32, from Layout::agreement() on. The first line is this rank's, and others read it.
  enum : int { kIsShown = 0, kFirst = 1, kOther = 10, kJudge = 16 };
  static_assert(int{kFirst} + int{kShownInts} <= int{kOther} && kJudge * sizeof(int32_t) < Layout::kAgreementBytes);

  static constexpr int32_t kNobody = -1;

  [[nodiscard]] AICORE BatonPlace place() const { return kernel::place_of("moe::Exchange", where_); }
  [[nodiscard]] AICORE int rank() const { return static_cast<int>(context_->rankId); }
  [[nodiscard]] AICORE int ranks() const { return static_cast<int>(context_->rankNum); }
  [[nodiscard]] AICORE int32_t* word(int index) const {
    return reinterpret_cast<int32_t*>(window_ + Layout::agreement()) + index;
  }
  template <typename T>
  [[nodiscard]] AICORE T* at(T* mine, int peer) const {
    return pto::comm::CommRemotePtr(context_, mine, peer, where_);
  }

  // Sequentially consistent: of two ranks that write and then look at each other's, one sees the other's.
  AICORE static int32_t look(const int32_t* word) { return kernel::load_in_order(word); }
  AICORE static void show(int32_t* word, int32_t value) { kernel::store_in_order(word, value); }
  [[nodiscard]] AICORE int32_t look_at(int peer, int index) const {
    return look(kernel::near_words(place(), at(word(index), peer), 1));
  }

  AICORE void write(const Shown& mine) const {
    int32_t numbers[kShownInts];
    memcpy(numbers, &mine, sizeof numbers);
    for (int i = 0; i < kShownInts; ++i) kernel::store_relaxed(word(kFirst + i), numbers[i]);
    // Pairs with the load in read(): seeing it is seeing the numbers.
    show(word(kIsShown), 1);
    publish();
  }
  AICORE bool read(int peer, Shown& shown) const {
    if (look_at(peer, kIsShown) == 0) return false;
    const int32_t* theirs = kernel::near_words(place(), at(word(kFirst), peer), kShownInts);
    int32_t numbers[kShownInts];
    for (int i = 0; i < kShownInts; ++i) numbers[i] = kernel::load_relaxed(theirs + i);
    memcpy(&shown, numbers, sizeof numbers);
    return true;
  }
  AICORE static bool same(const Shown& a, const Shown& b) {
    int32_t of_a[kShownInts];
    int32_t of_b[kShownInts];
    memcpy(of_a, &a, sizeof of_a);
    memcpy(of_b, &b, sizeof of_b);
    bool equal = true;
    for (int i = 0; i < kShownInts; ++i) equal = equal && of_a[i] == of_b[i];
    return equal;
  }
  AICORE void publish() const {
    dcci(word(0), ENTIRE_DATA_CACHE, CACHELINE_OUT);
    dsb(DSB_DDR);
  }

  [[noreturn]] PTO_COLD AICORE void disagree(int peer, const Shown& theirs, const Shown& mine) const {
    pass_verdict(peer);
    say(rank(), mine, peer, theirs);
  }
  PTO_COLD AICORE void pass_verdict(int other) const {
    // Pairs with the load in repeat_verdict(), by way of the counters.
    kernel::store_release(word(kOther), other);
    publish();
    for (int to = 0; to < ranks(); ++to) {
      set(to, word(kJudge), rank() + 1);
      for (int i = 0; i < Layout::kCounters; ++i) {
        set(to, reinterpret_cast<int32_t*>(window_ + Layout::counter(static_cast<Counter>(i))), collectives::kBroken);
      }
    }
  }
  AICORE void set(int peer, int32_t* signal, int32_t value) const {
    const pto::comm::Signal there(at(signal, peer));
    pto::comm::TNOTIFY(there, value, pto::comm::NotifyOp::Set, where_);
  }

  [[noreturn]] PTO_COLD AICORE void repeat_verdict() const {
    const int judge = look(word(kJudge)) - 1;
    const int other = look_at(judge, kOther);
    if (other == kNobody) kernel::fail(place(), BATON_KERNEL_MISMATCH, "rank ", judge, " failed in this exchange");
    Shown shown[2] = {};
    (void)read(judge, shown[0]);
    (void)read(other, shown[1]);
    say(judge, shown[0], other, shown[1]);
  }

  [[noreturn]] PTO_COLD AICORE void say(int a, const Shown& of_a, int b, const Shown& of_b) const {
    kernel::Message text;
    text.add("ranks disagree about the exchange: ");
    describe(text, a < b ? a : b, a < b ? of_a : of_b);
    text.add(", ");
    describe(text, a < b ? b : a, a < b ? of_b : of_a);
    kernel::fail(place(), BATON_KERNEL_MISMATCH, text.text());
  }
  AICORE static void describe(kernel::Message& text, int rank, const Shown& shown) {
    const Problem& problem = shown.problem;
    collectives::add_all(text, "rank ", rank, " has ", problem.experts_per_rank, " experts, top ", problem.top_k, ", ",
                         problem.tokens_at_most, " tokens at most, rows of ", problem.width, " ",
                         collectives::word_for(static_cast<Element>(shown.element)), ", capacity ", problem.capacity);
  }

  const CommContext* context_;
  uint8_t* window_;
  kernel::Where where_;
};

}  // namespace baton::moe
