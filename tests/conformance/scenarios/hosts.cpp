// What is different, and what is not, where ranks are on several hosts.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#include "support/hosts_lab.hpp"
#include "support/processes.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"

namespace {

using namespace baton;
using namespace std::chrono_literals;
using test::require_error;

const std::vector<test::Hosting> kHosts = {test::Hosting::hosts};

bool is_same_host(int a, int b) {
  const auto hosts = test::hosts_of_ranks();
  return hosts.at(static_cast<std::size_t>(a)) == hosts.at(static_cast<std::size_t>(b));
}

std::vector<std::uint64_t> numbers_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace

SCENARIO(PointersReachRanksOfTheSameHost, {.sizes = {4, 5}, .hostings = kHosts}) {
  const auto window = me.window<int>("w", 4);
  const Signals signals = me.signals("s", 1);
  for (int rank = 0; rank < me.size(); ++rank) {
    REQUIRE_EQUAL(window.is_mapped(rank), is_same_host(rank, me.rank()));
    if (window.is_mapped(rank)) {
      window.peer(rank)[static_cast<std::size_t>(me.rank() % 4)] = 1;
      continue;
    }
    const std::string host(1, static_cast<char>('a' + test::hosts_of_ranks()[static_cast<std::size_t>(rank)]));
    require_error(Code::out_of_range, {"\"w\"", "rank " + std::to_string(rank), "on host " + host},
                  [&] { static_cast<void>(window.peer(rank)); });
    require_error(Code::out_of_range, {"on host " + host}, [&] { window.wait_reached(rank, 0, 1, Needed::owner, 1s); });
  }
  // In the table for kernels every rank has an address, and the same distance between two.
  const CommContext& context = *window.context();
  for (int rank = 1; rank < me.size(); ++rank) {
    REQUIRE_EQUAL(context.windowsIn[rank] - context.windowsIn[rank - 1], context.windowsIn[1] - context.windowsIn[0]);
  }
  me.barrier();
}

// Larger than what UCX sends at once, than its buffers, and than those of the system; signals follow at once.
SCENARIO(SizesFromOneByteOn, {.sizes = {2, 3}, .hostings = kHosts}) {
  const std::size_t largest = std::size_t{24} * 1024 * 1024 / sizeof(std::uint64_t);
  const auto data = me.window<std::uint64_t>("data", largest);
  const Signals full = me.signals("full", 2);
  const Signals empty = me.signals("empty", 1);
  const int right = (me.rank() + 1) % me.size();
  const int left = (me.rank() + me.size() - 1) % me.size();
  int round = 0;
  for (const std::size_t count : {std::size_t{1}, std::size_t{100}, std::size_t{1000}, std::size_t{9000},
                                  std::size_t{70'000}, largest, std::size_t{3}}) {
    ++round;
    const std::uint64_t mark = static_cast<std::uint64_t>(round) << 40U;
    const auto mine = numbers_from(mark + static_cast<std::uint64_t>(me.rank()), count);
    if (round % 2 == 0) {
      data.put_signal(right, 0, mine, full, 0);
    } else {
      data.put(right, 0, mine);
      full.notify(right, 0);
    }
    full.wait(0, WaitCmp::ge, round);
    const auto theirs = numbers_from(mark + static_cast<std::uint64_t>(left), count);
    REQUIRE(std::equal(theirs.begin(), theirs.end(), data.begin()));
    std::vector<std::uint64_t> fetched(count);
    data.get(right, 0, fetched);
    // The right one may be ahead of us by nothing: it waits for the signal below.
    REQUIRE(fetched == mine);
    empty.notify(left, 0);
    empty.wait(0, WaitCmp::ge, round);
  }
  me.barrier();
}

// Puts of all sizes in a row to the same bytes: the last one counts, and its signal comes behind it.
SCENARIO(WhatIsSentIsDoneInOrder, {.sizes = {3}, .hostings = kHosts}) {
  constexpr std::size_t kCount = 200'000;
  const auto data = me.window<std::uint64_t>("data", kCount);
  const Signals signals = me.signals("s", 1);
  const int right = (me.rank() + 1) % me.size();
  const int left = (me.rank() + me.size() - 1) % me.size();
  const int rounds = test::scaled(200);
  for (int round = 1; round <= rounds; ++round) {
    const std::size_t first_count = round % 3 == 0 ? kCount : 50;
    data.put(right, 0, numbers_from(static_cast<std::uint64_t>(round), first_count));
    data.put(right, 0, numbers_from(static_cast<std::uint64_t>(me.rank()) + 7, 5));
    signals.notify(right, 0);
    signals.wait(0, WaitCmp::ge, round);
    REQUIRE_EQUAL(data[4], static_cast<std::uint64_t>(left) + 11);
    REQUIRE_EQUAL(data[first_count - 1], static_cast<std::uint64_t>(round) + first_count - 1);
    me.barrier();
  }
}

// Two ranks that answer each other use one connection: TCP acknowledges by the answer. With one for each direction,
// half as many packets more are acknowledgements alone.
SCENARIO(AnAnswerAcknowledges, {.sizes = {2}, .hostings = kHosts}) {
  const Signals signals = me.signals("s", 1);
  me.barrier();
  const int rounds = test::scaled(2000);
  const std::uint64_t before = test::packets_sent_by_host();
  for (int round = 1; round <= rounds; ++round) {
    if (me.rank() == 0) signals.notify(1, 0);
    signals.wait(0, WaitCmp::ge, round);
    if (me.rank() == 1) signals.notify(0, 0);
  }
  const auto sent = static_cast<double>(test::packets_sent_by_host() - before) / rounds;
  REQUIRE(sent >= 1);
#if !defined(BATON_SANITIZE_THREAD)
  // There it takes milliseconds for each round, and more packets; why was not found.
  REQUIRE(sent < 1.3);
#endif
}

// Of the connections of a pair one is left, from some moment on. What goes over it arrives before what was sent over
// the other one, if that is more than is read at once.
SCENARIO(OrderIsKeptWhenConnectionsBecomeOne, {.sizes = {8}, .hostings = kHosts}) {
  constexpr std::size_t kMost = 100'000;
  // None is the first of its host, to whom others have spoken before.
  constexpr int kPairs[2][2] = {{2, 4}, {5, 7}};
  const auto data = me.window<std::uint64_t>("data", kMost);
  const Signals signals = me.signals("s", 2);
  me.barrier();
  for (const auto& [lower, upper] : kPairs) {
    REQUIRE(!is_same_host(lower, upper));
    if (me.rank() == upper) {
      // The lower one answers in the middle, and so offers its connection.
      std::uint64_t sent = 0;
      for (int more = test::scaled(50); more > 0; more -= signals.test(1, WaitCmp::ge, 1) ? 1 : 0) {
        const std::size_t count = ++sent % 2 == 0 ? kMost : 2;
        data.put_signal(lower, 0, numbers_from(sent, count), signals, 0, static_cast<std::int32_t>(sent),
                        NotifyOp::set);
      }
      signals.notify(lower, 1);
    } else if (me.rank() == lower) {
      signals.wait(0, WaitCmp::ge, 20);
      signals.notify(upper, 1);
      signals.wait(1, WaitCmp::ge, 1);
      REQUIRE(signals.test(0, WaitCmp::eq, static_cast<std::int32_t>(data[0])));
      REQUIRE_EQUAL(data[1], data[0] + 1);
    }
  }
  me.barrier();
}

// A message that wakes the thread of the path takes the processor from who waits for that message. While a rank looks
// itself the thread comes back once in a millisecond, and may have to wait for the lock then, however many messages
// come.
SCENARIO(TheThreadOfThePathRestsWhileOthersLook, {.sizes = {2}, .hostings = kHosts}) {
  const Signals signals = me.signals("s", 1);
  me.barrier();
  const int rounds = test::scaled(2000);
  const std::uint64_t before = test::sleeps_of_thread("baton-ucx");
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 1; round <= rounds; ++round) {
    if (me.rank() == 0) signals.notify(1, 0);
    while (!signals.test(0, WaitCmp::ge, round)) continue;
    if (me.rank() == 1) signals.notify(0, 0);
  }
  const auto passed = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  const std::uint64_t slept = test::sleeps_of_thread("baton-ucx") - before;
  REQUIRE(slept <= static_cast<std::uint64_t>(rounds / 4 + 2 * passed.count()));
}

SCENARIO(BytesGoOverTheLinkOnce, {.sizes = {2}, .hostings = kHosts}) {
  constexpr std::size_t kBytes = std::size_t{16} * 1024 * 1024;
  const RawWindow window = me.raw_window("w", kBytes);
  const std::vector<std::byte> bytes(kBytes, std::byte{7});
  me.barrier();
  if (me.rank() == 0) {
    const std::uint64_t before = test::bytes_sent_by_host();
    window.put(1, 0, bytes.data(), kBytes);
    me.barrier();
    const std::uint64_t sent = test::bytes_sent_by_host() - before;
    REQUIRE(sent >= kBytes);
    REQUIRE(sent <= kBytes + kBytes / 20);
  } else {
    me.barrier();
    REQUIRE(std::all_of(window.local(), window.local() + kBytes, [](std::byte b) { return b == std::byte{7}; }));
  }
  me.barrier();
}

SCENARIO(WindowsThatAPeerReleasedAreReached, {.sizes = {2}, .hostings = kHosts}) {
  RawWindow window = me.raw_window("w", 64);
  const Signals signals = me.signals("s", 1);
  if (me.rank() == 1) window.release();
  me.barrier();
  if (me.rank() == 0) {
    // As on one host: this rank still has it.
    const int put = 1;
    int got = 0;
    window.put(1, 0, &put, sizeof put);
    window.get(1, 0, &got, sizeof got);
    REQUIRE_EQUAL(got, put);
    signals.notify(1, 0);
  } else {
    signals.wait(0, WaitCmp::ge, 1);
  }
  me.barrier();
}

SCENARIO(WhatIsSentToARankThatLeftIsDropped, {.sizes = {3}, .hostings = kHosts}) {
  const auto window = me.window<int>("w", 4);
  const Signals signals = me.signals("s", 2);
  window.put((me.rank() + 1) % 3, 0, 5);
  me.barrier();
  if (me.rank() == 2) return;
  while (window.activity_of(2).find("has left") == std::string::npos) {
    // Its departure is news at some time.
    static_cast<void>(signals.test(1, WaitCmp::ge, 1));
  }
  for (int i = 0; i < 10; ++i) {
    window.put(2, 0, i);
    signals.notify(2, 0);
  }
  int word = 0;
  if (window.is_mapped(2)) {
    window.get(2, 0, std::span(&word, 1));
  } else {
    require_error(Code::peer_left, {"rank 2", "has left"}, [&] { window.get(2, 0, std::span(&word, 1)); });
  }
  // The others go on.
  signals.notify(1 - me.rank(), 0);
  signals.wait(0, WaitCmp::ge, 1);
}

SCENARIO(BarrierTimeoutNamesTheHostThatIsMissing, {.sizes = {3}, .hostings = kHosts}) {
  const Signals told = me.signals("told", 1);
  if (me.rank() == 0) {
    told.wait(0, WaitCmp::ge, 2);
  } else {
    require_error(Code::wait_timeout, {"barrier 1 of \"world\"", "rank 0", "did not arrive", "on host a"},
                  [&] { me.barrier(50ms); });
    told.notify(0, 0);
  }
  for (int i = 0; i < 20; ++i) me.barrier();
}
