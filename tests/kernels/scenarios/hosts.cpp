// What kernels do with memory of ranks on other hosts.
#include <algorithm>

#include "chip_rank.hpp"
#include "support/hosts_lab.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"

namespace baton::test {
namespace {

std::int64_t address(const void* of) { return reinterpret_cast<std::int64_t>(of); }

/// The next rank that is on another host; the ranks of this scenario are on several.
int far_peer(const Domain& me) {
  const std::vector<std::uint32_t> host_of = hosts_of_ranks();
  int peer = me.rank();
  while (host_of.at(static_cast<std::size_t>(peer)) == host_of.at(static_cast<std::size_t>(me.rank()))) {
    peer = (peer + 1) % me.size();
  }
  return peer;
}

}  // namespace

// A pointer does not reach another host. The kernel that tries is named, with its line, and the chip lives on.
SCENARIO(APointerToAnotherHostIsAnError, {.sizes = {2, 3}, .hostings = {Hosting::hosts}}) {
  const auto window = me.window<float>("shown", 4);
  window[1] = static_cast<float>(me.rank());
  me.barrier();
  ChipRank chip(me);
  Numbers out(chip, 1, "out");
  const int peer = far_peer(me);
  const std::int64_t context = address(window.context());
  const std::int64_t shown = address(window.data() + 1);
  require_error(Code::kernel_fault,
                {"kernel 'peek'", "vector core ", "peek.cpp:9", "byte 4 of \"shown\" of rank " + std::to_string(peer),
                 "on host", "instructions reach it, pointers do not"},
                [&] {
                  chip.run("peek", {out, context, shown, peer});
                });
  chip.run("peek", {out, context, shown, me.rank()});
  REQUIRE_EQUAL(out[0], static_cast<float>(me.rank()));
  me.barrier();
}

// A wait is for signals of this rank.
SCENARIO(AWaitForAnotherHostsSignalIsAnError, {.sizes = {2}, .hostings = {Hosting::hosts}}) {
  const auto window = me.window<std::int32_t>("signals", 4);
  ChipRank chip(me);
  const auto* theirs = reinterpret_cast<const std::int32_t*>(window.context()->windowsIn[1 - me.rank()]);
  require_error(Code::out_of_range, {"kernel 'lonely_wait'", "TWAIT", "lonely_wait.cpp:7", "on another host"},
                [&] { chip.run("lonely_wait", {address(theirs)}); });
  me.barrier();
}

// Elements and rows find their places in a peer's window, on whichever host that is, the last one of several wins, and
// those that are added, or compared, meet what others leave there.
SCENARIO(KernelsScatterIntoWindows, {.sizes = {2, 3}}) {
  constexpr std::size_t kRows = 8, kCols = 16, kPlaces = 64, kApart = 24, kRoom = kPlaces * kApart;
  enum : std::int64_t { kReplaced, kAdded, kLarger, kSmaller, kOperations };
  const auto window = me.window<float>("places", kRoom);
  const auto indices = me.window<std::int32_t>("indices", kRows * kCols);
  ChipRank chip(me);
  Numbers values(chip, kRows * kCols, "values");
  const int peer = (me.rank() + 1) % me.size();
  const auto there = static_cast<std::int64_t>(window.context()->windowsIn[peer]);
  const auto index = [](std::size_t i) { return static_cast<std::int32_t>(i * 37 % 67) - 1; };
  const auto value = [](int rank, std::size_t i) {
    return static_cast<float>(i * 29 % 101) - 50.0F + 1000.0F * static_cast<float>(rank);
  };
  for (std::size_t i = 0; i < kRows * kCols; ++i) {
    indices[i] = index(i);
    values[i] = value(me.rank(), i);
  }
  for (std::int64_t rows = 0; rows < 2; ++rows) {
    for (std::int64_t op = kReplaced; op < kOperations; ++op) {
      std::vector<float> wanted(kRoom);
      for (std::size_t i = 0; i < kRoom; ++i)
        window[i] = wanted[i] = static_cast<float>(i % 7) + 1000.0F * static_cast<float>(peer);
      me.barrier();
      chip.run("scatter_to", {values, address(indices.data()), there, rows, op});
      me.barrier();
      const int giver = (me.rank() + me.size() - 1) % me.size();
      for (std::size_t i = 0; i < kRows * kCols; ++i) {
        const std::int32_t at = index(rows == 0 ? i : i / kCols);
        if (at < 0 || at >= static_cast<std::int32_t>(kPlaces)) continue;
        const std::size_t place =
            rows == 0 ? static_cast<std::size_t>(at) : static_cast<std::size_t>(at) * kApart + i % kCols;
        const float given = value(giver, i);
        float& here = wanted[place];
        here = op == kReplaced ? given
               : op == kAdded  ? here + given
               : op == kLarger ? std::max(here, given)
                               : std::min(here, given);
      }
      for (std::size_t i = 0; i < kRoom; ++i) REQUIRE_EQUAL(window[i], wanted[i]);
    }
  }
}

// The signal of a copy says that its bytes have arrived, even to a third rank.
SCENARIO(AThirdRankIsToldWhenBytesHaveArrived, {.sizes = {3}}) {
  constexpr std::size_t kCount = 1000;
  const int rounds = scaled(200);
  const auto window = me.window<float>("window", kCount);
  auto arrived = me.signals("arrived", 1);
  ChipRank chip(me);
  Numbers in(chip, kCount, "in");
  for (int round = 1; round <= rounds; ++round) {
    if (me.rank() == 0) {
      for (std::size_t i = 0; i < kCount; ++i) in[i] = static_cast<float>(round);
      chip.run("put_and_tell", {in, address(window.context()), address(window.data()), 1,
                                static_cast<std::int64_t>(arrived.context()->windowsIn[2])});
    } else if (me.rank() == 2) {
      arrived.wait(0, WaitCmp::ge, round);
      // Rank 1, which shares a host with this one wherever hosts are several.
      const auto* theirs = reinterpret_cast<const float*>(window.context()->windowsIn[1]);
      for (std::size_t i = 0; i < kCount; ++i) REQUIRE_EQUAL(theirs[i], static_cast<float>(round));
    }
    me.barrier();
  }
}

}  // namespace baton::test
