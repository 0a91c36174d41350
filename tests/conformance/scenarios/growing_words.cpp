// 64-bit words that only grow: advance and wait_reached.
#include <atomic>

#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"

namespace {

using namespace baton;
using namespace std::chrono_literals;
using test::require_error;

constexpr auto kLong = 60s;

}  // namespace

SCENARIO(AWordIsWaitedForByAnybody, {.sizes = {2, 5}, .hostings = test::kOneHost}) {
  const RawWindow words = me.raw_window("words", 64);
  const auto data = me.window<int>("data", 1);
  const int rounds = test::scaled(300);
  // The owner of each round writes and advances its word; all others see the word and what was written before it.
  for (int round = 0; round < rounds; ++round) {
    const int owner = round % me.size();
    const auto value = static_cast<std::uint64_t>(round) + (std::uint64_t{1} << 40);
    if (me.rank() == owner) {
      data[0] = round;
      words.advance(owner, 8, value);
    } else {
      words.wait_reached(owner, 8, value, Needed::owner, kLong);
      REQUIRE_EQUAL(data.peer(owner)[0], round);
    }
    me.barrier();
  }
}

SCENARIO(AWordOfAnotherRankCanBeAdvanced, {.hostings = test::kOneHost}) {
  const RawWindow words = me.raw_window("words", 64);
  if (me.rank() == 3) words.advance(1, 0, 7);
  words.wait_reached(1, 0, 7, Needed::every_member, kLong);
  words.wait_reached(1, 0, 3, Needed::every_member, kLong);
  me.barrier();
}

SCENARIO(AWordThatStaysEndsTheWaitAtItsDeadline, {.sizes = {2}, .hostings = test::kOneHost}) {
  const RawWindow words = me.raw_window("words", 64);
  require_error(Code::wait_timeout, {"for rank 1 of", "word 2 of \"words\" has 0, needs >= 5"},
                [&] { words.wait_reached(1, 16, 5, Needed::owner, 1ms); });
  require_error(Code::misaligned, {"multiple of 8"}, [&] { words.advance(0, 4, 1); });
  require_error(Code::out_of_range, {"outside the window"}, [&] { words.advance(0, 64, 1); });
  me.barrier();
}

SCENARIO(WhoIsNeededDecidesWhichDepartureCounts, {.sizes = {3}, .hostings = test::kOneHost}) {
  const RawWindow words = me.raw_window("words", 64);
  me.barrier();
  if (me.rank() == 2) return;
  if (me.rank() == 0) {
    require_error(Code::peer_left, {"rank 2"}, [&] { words.wait_reached(1, 0, 1, Needed::every_member, kLong); });
    words.advance(0, 0, 1);
    // Rank 2 has left, but rank 1, of which this is, has not.
    words.wait_reached(1, 0, 1, Needed::owner, kLong);
    require_error(Code::peer_left, {"rank 2"}, [&] { words.wait_reached(2, 0, 1, Needed::owner, kLong); });
    words.advance(0, 0, 2);
  } else {
    words.wait_reached(0, 0, 1, Needed::owner, kLong);
    words.advance(1, 0, 1);
    words.wait_reached(0, 0, 2, Needed::owner, kLong);
  }
}
