// What is refused, and how it is told.
#include <unistd.h>

#include <algorithm>
#include <string>

#include "support/require.hpp"
#include "support/scenario.hpp"

namespace {

using namespace baton;
using namespace std::chrono_literals;
using test::require_error;

}  // namespace

SCENARIO(RangesAreCheckedWithNumbers, {}) {
  const RawWindow window = me.raw_window("small", 100);
  char bytes[128] = {};
  const std::size_t huge = SIZE_MAX - 3;
  require_error(Code::out_of_range, {"put", "\"small\"", "101 bytes from byte 0", "rank 1", "window of 100 bytes"},
                [&] { window.put(1, 0, bytes, 101); });
  require_error(Code::out_of_range, {"get", "1 bytes from byte 100"}, [&] { window.get(1, 100, bytes, 1); });
  require_error(Code::out_of_range, {"put", "8 bytes from byte " + std::to_string(huge)},
                [&] { window.put(1, huge, bytes, 8); });
  require_error(Code::out_of_range, {"get"}, [&] { window.get(1, 8, bytes, SIZE_MAX); });
  require_error(Code::out_of_range, {"notify", "4 bytes from byte 97"}, [&] { window.notify(0, 97); });
  require_error(Code::out_of_range, {"wait", "byte 100"}, [&] { window.wait(100, WaitCmp::ge, 0); });
  require_error(Code::out_of_range, {"test", "byte 104"}, [&] { static_cast<void>(window.test(104, WaitCmp::ge, 0)); });
  for (const int rank : {-1, 4, 1'000'000}) {
    const std::string text = "rank " + std::to_string(rank) + " is outside 0..3";
    require_error(Code::out_of_range, {text, "\"small\"", "\"world\""}, [&] { window.put(rank, 0, bytes, 1); });
    require_error(Code::out_of_range, {text}, [&] { window.get(rank, 0, bytes, 1); });
    require_error(Code::out_of_range, {text}, [&] { window.notify(rank, 0); });
    require_error(Code::out_of_range, {text}, [&] { static_cast<void>(window.part(rank)); });
  }
  for (const std::size_t offset : {std::size_t{1}, std::size_t{2}, std::size_t{95}}) {
    const std::string text = "byte " + std::to_string(offset) + ", which is not a multiple of 4";
    require_error(Code::misaligned, {text, "notify"}, [&] { window.notify(0, offset); });
    require_error(Code::misaligned, {text, "wait"}, [&] { window.wait(offset, WaitCmp::ge, 0); });
    require_error(Code::misaligned, {text, "test"}, [&] { static_cast<void>(window.test(offset, WaitCmp::ge, 0)); });
  }
  const Signals signals = me.signals("five", 5);
  require_error(Code::out_of_range, {"\"five\""}, [&] { signals.notify(0, 5); });
  // An index whose offset in bytes does not fit must not wrap round to the beginning.
  const std::size_t wraps = SIZE_MAX / 4 + 1;
  require_error(Code::out_of_range, {"\"five\""}, [&] { signals.notify(0, wraps); });
  require_error(Code::out_of_range, {"\"five\""}, [&] { signals.wait(wraps, WaitCmp::ge, 0); });
  require_error(Code::out_of_range, {"\"five\""}, [&] { static_cast<void>(signals.test(wraps, WaitCmp::ge, 0)); });
  me.barrier();
  REQUIRE(signals.test(0, WaitCmp::eq, 0));
  me.barrier();
}

SCENARIO(NamesAreChecked, {.sizes = {2}}) {
  const std::string longest(48, 'n');
  for (const std::string& name :
       {std::string(), std::string("two\nlines"), std::string("caf\xc3\xa9"), longest + "n"}) {
    require_error(Code::invalid_argument, {"name", "1 to 48 printable ASCII"},
                  [&] { static_cast<void>(me.raw_window(name, 8)); });
    const int all[2] = {0, 1};
    require_error(Code::invalid_argument, {"domain"}, [&] { static_cast<void>(me.subset(name, all)); });
  }
  const RawWindow window = me.raw_window(longest, 8);
  REQUIRE_EQUAL(window.name(), longest);
  require_error(Code::wait_timeout, {longest}, [&] { window.wait(0, WaitCmp::ge, 1, 0ns); });
  me.barrier();
}

SCENARIO(DifferentSizesAreShownToEveryRank, {.sizes = {2, 4}}) {
  const int odd_one = me.size() - 1;
  const std::size_t bytes = me.rank() == odd_one ? 128 : 64;
  const Error error = require_error(Code::mismatch, {"\"world\"", "\"w\" of 64 bytes", "\"w\" of 128 bytes"},
                                    [&] { static_cast<void>(me.raw_window("w", bytes)); });
  REQUIRE_EQUAL(error.notes().size(), 2U);
  REQUIRE(error.notes()[0].starts_with("rank " + std::to_string(me.rank()) + " asks"));
  me.barrier();
}

SCENARIO(DifferentNamesAreShownToEveryRank, {.sizes = {2, 4}}) {
  const std::string name = me.rank() == 0 ? "left" : "right";
  require_error(Code::mismatch, {"\"left\" of 64 bytes", "\"right\" of 64 bytes"},
                [&] { static_cast<void>(me.raw_window(name, 64)); });
  // The domain is still good: what failed is over at every rank.
  const RawWindow next = me.raw_window("next", 64);
  next.put(0, static_cast<std::size_t>(me.rank()), "x", 1);
  me.barrier();
}

SCENARIO(WindowAgainstHugeWindowIsAnErrorEverywhere, {.sizes = {2}, .hostings = test::kOneHost}) {
  // Rank 0 makes the segment and cannot: both learn of it, whatever rank 1 wanted.
  const std::size_t bytes = me.rank() == 0 ? std::size_t{1} << 42U : 64;
  require_error(Code::out_of_memory, {"\"w\"", std::to_string(std::size_t{1} << 42U)},
                [&] { static_cast<void>(me.raw_window("w", bytes)); });
  me.barrier();
  // The other way round the sizes are compared.
  const std::size_t other = me.rank() == 1 ? std::size_t{1} << 42U : 64;
  require_error(Code::mismatch, {"64 bytes", std::to_string(std::size_t{1} << 42U)},
                [&] { static_cast<void>(me.raw_window("w", other)); });
  me.barrier();
}

SCENARIO(WaitTimeoutTellsWhatIsMissingAndWhoWasLast, {.sizes = {3}}) {
  const Signals signals = me.signals("scratch", 8);
  if (me.rank() == 1) {
    signals.notify(0, 3, 6);
    signals.notify(2, 0);
  }
  if (me.rank() == 2) signals.wait(0, WaitCmp::ge, 1);
  me.barrier();
  if (me.rank() == 0) {
    const Error error =
        require_error(Code::wait_timeout,
                      {"rank 0 waited 30 ms for signal 3 of \"scratch\" (has 6, needs >= 7; ", "BATON_WAIT_TIMEOUT"},
                      [&] { signals.wait(3, WaitCmp::ge, 7, 30ms); });
    // Rank 1's last notify was to another signal; a report says only what is on record.
    // What came from another host is on record here.
    REQUIRE(!signals.is_mapped(1) || error.message().find("no notify of it on record") != std::string::npos);
    REQUIRE_EQUAL(error.notes().size(), 2U);
    REQUIRE(error.notes()[0].starts_with("rank 1") && error.notes()[1].starts_with("rank 2"));
  }
  me.barrier();
  if (me.rank() == 1) signals.notify(0, 3, 0);
  me.barrier();
  if (me.rank() == 0) {
    require_error(Code::wait_timeout, {"(has 6, needs == -7; last notified by rank 1, ", " ago)"},
                  [&] { signals.wait(3, WaitCmp::eq, -7, 1ms); });
  }
  me.barrier();
}

// Twelve ranks: a report names some of the others and counts the rest, itself excluded.
SCENARIO(WaitTimeoutReportsAreBounded, {.sizes = {12}}) {
  const Signals signals = me.signals("s", 1);
  if (me.rank() == 11 || me.rank() == 0) {
    const Error error = require_error(Code::wait_timeout, {"has 0"}, [&] { signals.wait(0, WaitCmp::ge, 1, 1ms); });
    REQUIRE(error.notes().size() <= 9);
    const auto named = std::count_if(error.notes().begin(), error.notes().end(),
                                     [](const std::string& note) { return note.starts_with("rank "); });
    REQUIRE_EQUAL(error.notes().back(), "and " + std::to_string(11 - named) + " more ranks");
  }
  me.barrier();
}
