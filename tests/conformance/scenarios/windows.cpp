// Windows: what they are when they are new, and what puts and gets do to them.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/processors.hpp"
#include "base/unique_fd.hpp"
#include "support/process_memory.hpp"
#include "support/reach.hpp"
#include "support/require.hpp"
#include "support/scenario.hpp"

namespace {

using namespace baton;
using test::require_error;

/// A byte that depends on who wrote it and where.
std::byte pattern(int rank, std::size_t i) {
  return static_cast<std::byte>((rank + 1) * 37 + static_cast<int>(i % 251));
}

std::vector<std::byte> pattern_of(int rank, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = pattern(rank, i);
  return bytes;
}

/// Asks the system, which answers where an access would crash.
bool can_be_read(const void* address) {
  int pipe[2] = {-1, -1};
  REQUIRE(::pipe(pipe) == 0);
  const UniqueFd reader(pipe[0]);
  const UniqueFd writer(pipe[1]);
  return ::write(writer.get(), address, 1) == 1;
}

}  // namespace

SCENARIO(WindowsAreZeroAndPageAligned, {}) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{64}, std::size_t{4096}, std::size_t{70'001}}) {
    // A byte of this rank alone, so that no other rank's writes can disturb the check of zeros.
    const RawWindow window = me.raw_window("fresh", bytes);
    REQUIRE_EQUAL(window.bytes(), bytes);
    REQUIRE(std::all_of(window.local(), window.local() + bytes, [](std::byte b) { return b == std::byte{0}; }));
    for (int rank = 0; rank < me.size(); ++rank) {
      if (window.is_mapped(rank)) REQUIRE_EQUAL(reinterpret_cast<std::uintptr_t>(window.part(rank)) % page, 0U);
    }
    const std::vector<std::byte> mine = pattern_of(me.rank(), bytes);
    std::copy(mine.begin(), mine.end(), window.local());
    me.barrier();
    for (int rank = 0; rank < me.size(); ++rank) {
      std::vector<std::byte> theirs(bytes);
      window.get(rank, 0, theirs.data(), bytes);
      REQUIRE(theirs == pattern_of(rank, bytes));
    }
    me.barrier();
  }
}

SCENARIO(AWindowKnowsWhatIsInItsOwnPart, {}) {
  constexpr std::size_t kBytes = 100;
  RawWindow window = me.raw_window("own", kBytes);
  const std::byte* own = window.local();
  REQUIRE(window.is_local(own, kBytes));
  REQUIRE(window.is_local(own + kBytes, 0));
  REQUIRE(window.is_local(own + 40, 60));
  REQUIRE(!window.is_local(own + 40, 61));
  REQUIRE(!window.is_local(own, SIZE_MAX));
  REQUIRE(!window.is_local(own - 1, 1));
  REQUIRE(!window.is_local(nullptr, 0));
  for (int rank = 0; rank < me.size(); ++rank) {
    if (window.is_mapped(rank)) REQUIRE_EQUAL(window.is_local(window.part(rank), 1), rank == me.rank());
  }
  window.release();
  require_error(Code::released, {"\"own\""}, [&] { static_cast<void>(window.is_local(own, 1)); });
}

SCENARIO(PutAndGetMoveExactlyTheirBytes, {}) {
  constexpr std::size_t kBytes = 10'000;
  const RawWindow window = me.raw_window("bytes", kBytes);
  const int right = (me.rank() + 1) % me.size();
  const int left = (me.rank() + me.size() - 1) % me.size();
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{64}, std::size_t{4097}}) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{3}, std::size_t{4095}, kBytes - count}) {
      if (offset + count > kBytes) continue;
      std::fill_n(window.local(), kBytes, std::byte{0});
      me.barrier();
      window.put(right, offset, pattern_of(me.rank(), count).data(), count);
      me.barrier();
      std::vector<std::byte> expected(kBytes);
      for (std::size_t i = 0; i < count; ++i) expected[offset + i] = pattern(left, i);
      REQUIRE(std::memcmp(window.local(), expected.data(), kBytes) == 0);
      std::vector<std::byte> fetched(count + 2, std::byte{0x5a});
      window.get(right, offset, fetched.data() + 1, count);
      const std::vector<std::byte> sent = pattern_of(me.rank(), count);
      REQUIRE(std::equal(sent.begin(), sent.end(), fetched.begin() + 1));
      REQUIRE(fetched.front() == std::byte{0x5a} && fetched.back() == std::byte{0x5a});
      me.barrier();
    }
  }
}

SCENARIO(TypedWindowsCountElements, {}) {
  const auto window = me.window<double>("doubles", 100);
  REQUIRE_EQUAL(window.size(), 100U);
  REQUIRE_EQUAL(window.bytes(), 800U);
  std::iota(window.begin(), window.end(), 1000.0 * me.rank());
  me.barrier();
  for (int rank = 0; rank < me.size(); ++rank) {
    if (window.is_mapped(rank)) REQUIRE_EQUAL(window.peer(rank).size(), 100U);
    REQUIRE_EQUAL(test::load_from(window, rank, 99), 1000.0 * rank + 99);
    double fetched[2] = {};
    window.get(rank, 41, fetched);
    REQUIRE_EQUAL(fetched[1], 1000.0 * rank + 42);
  }
  me.barrier();
  const double source[3] = {me.rank() + 0.5, me.rank() + 0.25, 7};
  window.put((me.rank() + 1) % me.size(), 97, source);
  me.barrier();
  const int left = (me.rank() + me.size() - 1) % me.size();
  REQUIRE_EQUAL(window[97], left + 0.5);
  REQUIRE_EQUAL(window[98], left + 0.25);
  REQUIRE_EQUAL(window[96], 1000.0 * me.rank() + 96);
  require_error(Code::out_of_range, {"\"doubles\"", "800"}, [&] { window.put(0, 98, source); });
  // An index whose offset in bytes does not fit must not wrap round to the beginning.
  const std::size_t wraps = SIZE_MAX / sizeof(double) + 1;
  require_error(Code::out_of_range, {"\"doubles\""}, [&] { window.put(0, wraps, source); });
  require_error(Code::out_of_range, {"\"doubles\""},
                [&] { window.get(0, wraps, std::span<double>(window.data(), 1)); });
  me.barrier();
}

SCENARIO(ZeroByteWindows, {}) {
  const RawWindow window = me.raw_window("nothing", 0);
  REQUIRE_EQUAL(window.bytes(), 0U);
  REQUIRE(window.local() != nullptr);
  char byte = 0;
  window.put(0, 0, &byte, 0);
  window.put(0, 0, nullptr, 0);
  window.get(0, 0, &byte, 0);
  require_error(Code::out_of_range, {"\"nothing\"", "1 bytes from byte 0", "window of 0 bytes"},
                [&] { window.put(0, 0, &byte, 1); });
  require_error(Code::out_of_range, {"4 bytes from byte 0"}, [&] { window.notify(0, 0); });
  me.barrier();
  const auto typed = me.window<float>("no floats", 0);
  REQUIRE(typed.begin() == typed.end());
  me.barrier();
}

SCENARIO(HugeWindowIsRefusedByAllBeforeAnythingIsMapped, {}) {
  const test::ProcessMemory before = test::process_memory();
  const std::size_t tebibyte = std::size_t{1} << 40U;
  // "4 x 1099511627776 bytes", on each of several hosts for its own ranks.
  require_error(Code::out_of_memory, {"\"huge\"", "1099511627776 bytes"},
                [&] { static_cast<void>(me.raw_window("huge", tebibyte)); });
  // Sizes that overflow are refused in the same way.
  require_error(Code::out_of_memory, {}, [&] { static_cast<void>(me.raw_window("largest", SIZE_MAX)); });
  require_error(Code::out_of_memory, {}, [&] { static_cast<void>(me.raw_window("large", SIZE_MAX / 4)); });
  require_error(Code::out_of_memory, {"elements of 8 bytes"},
                [&] { static_cast<void>(me.window<double>("wraps", SIZE_MAX / 8 + 1)); });
  // No address space for it: a sanitizer's shadow does not grow either.
  REQUIRE(test::process_memory().virtual_bytes < before.virtual_bytes + tebibyte / 16);
  // The next allocation is not confused by those that failed.
  const auto next = me.window<int>("next", 10);
  next[0] = me.rank();
  me.barrier();
  REQUIRE_EQUAL(test::load_from(next, (me.rank() + 1) % me.size(), 0), (me.rank() + 1) % me.size());
  me.barrier();
}

SCENARIO(BigWindowCostsNothingUntilTouched, {.sizes = {2}}) {
  const std::size_t bytes = std::size_t{1} << 29U;
  const test::ProcessMemory before = test::process_memory();
  const RawWindow window = me.raw_window("big", bytes);
  window.put((me.rank() + 1) % 2, 0, "first", 5);
  window.put((me.rank() + 1) % 2, bytes - 4, "last", 4);
  me.barrier();
  REQUIRE(std::memcmp(window.local(), "first", 5) == 0);
  REQUIRE(std::memcmp(window.local() + bytes - 4, "last", 4) == 0);
  REQUIRE(window.local()[bytes / 2] == std::byte{0});
  REQUIRE(test::process_memory().resident_bytes < before.resident_bytes + bytes / 8);
  me.barrier();
}

// Memory that was promised and not touched yet is missing nowhere; a second promise of the same bytes would be a lie.
SCENARIO(PromisedMemoryIsNotPromisedTwice,
         {.sizes = {2}, .hostings = {test::Hosting::threads, test::Hosting::processes}}) {
  const auto plan = me.window<std::uint64_t>("plan", 1);
  if (me.rank() == 0) {
    const MemoryLimits limits = memory_limits();
    const std::uint64_t total = std::min(limits.total, limits.cgroup_limit.value_or(UINT64_MAX));
    // Nothing can be shown where most of the memory is in use.
    const std::uint64_t share = limits.obtainable() > total / 10 * 7 ? total / 10 * 6 / 2 : 0;
    for (int rank = 0; rank < 2; ++rank) plan.peer(rank)[0] = share;
  }
  me.barrier();
  const std::uint64_t share = plan[0];
  if (share == 0) test::skip_scenario("most of the memory of this machine is in use");
  RawWindow first = me.raw_window("first", share);
  me.barrier();
  require_error(Code::out_of_memory, {"\"second\""}, [&] { static_cast<void>(me.raw_window("second", share)); });
  first.release();
  me.barrier();
  const RawWindow again = me.raw_window("again", share);
  me.barrier();
}

SCENARIO(PointersIntoAReleasedWindowReachNothing, {.sizes = {2}, .hostings = {test::Hosting::processes}}) {
  constexpr std::size_t kBytes = 1024 * 1024;
  RawWindow window = me.raw_window("gone", kBytes);
  const std::byte* kept = window.local();
  REQUIRE(can_be_read(kept));
  const RawWindow copy = window;
  window.release();
  window = {};
  // The next mappings of its size would get the addresses of the old one.
  const RawWindow next = me.raw_window("next", kBytes);
  const RawWindow after = me.raw_window("after", kBytes);
  REQUIRE(!can_be_read(kept));
  me.barrier();
}

SCENARIO(ReleasedWindowsAreErrorsAndPeersKeepTheirs, {}) {
  RawWindow window = me.raw_window("short", 64);
  const RawWindow copy = window;
  for (const int target : {0, 1}) window.put(target, static_cast<std::size_t>(me.rank()) * 4, "abc", 4);
  me.barrier();
  if (me.rank() == 1) {
    window.release();
    window.release();
    char bytes[4] = {};
    require_error(Code::released, {"put", "\"short\""}, [&] { copy.put(0, 0, bytes, 4); });
    require_error(Code::released, {"get", "\"short\""}, [&] { copy.get(0, 0, bytes, 4); });
    require_error(Code::released, {"notify", "\"short\""}, [&] { copy.notify(0, 0); });
    require_error(Code::released, {"wait", "\"short\""}, [&] { copy.wait(0, WaitCmp::ge, 0); });
    require_error(Code::released, {"test", "\"short\""}, [&] { static_cast<void>(copy.test(0, WaitCmp::ge, 0)); });
    require_error(Code::released, {"\"short\""}, [&] { static_cast<void>(copy.part(0)); });
    require_error(Code::released, {"\"short\""}, [&] { static_cast<void>(copy.local()); });
    require_error(Code::released, {"\"short\""}, [&] { static_cast<void>(copy.context()); });
  }
  me.barrier();
  // Also the part of the one that released its view, wherever it is.
  for (const int source : {0, 1}) {
    char fetched[4] = {};
    if (me.rank() != 1) window.get(source, 4, fetched, sizeof fetched);
    if (me.rank() != 1) REQUIRE(std::memcmp(fetched, "abc", 4) == 0);
  }
  const RawWindow none;
  require_error(Code::released, {}, [&] { static_cast<void>(none.bytes()); });
  require_error(Code::released, {}, [&] { static_cast<void>(Domain().size()); });
  me.barrier();
}
