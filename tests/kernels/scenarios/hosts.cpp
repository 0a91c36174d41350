// What kernels do with memory of ranks on other hosts.
#include "chip_rank.hpp"
#include "support/hosts_lab.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"

namespace baton::test {
namespace {

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
  HostTensor out(chip.memory(), 1, "out");
  const int peer = far_peer(me);
  require_error(
      Code::kernel_fault,
      {"kernel 'peek'", "vector core 0.0", "peek.cpp:9", "byte 4 of \"shown\" of rank " + std::to_string(peer),
       "on host", "instructions reach it, pointers do not"},
      [&] {
        chip.run("peek", {out.argument(), argument(window.context()), argument(window.data() + 1), peer});
      });
  chip.run("peek", {out.argument(), argument(window.context()), argument(window.data() + 1), me.rank()});
  REQUIRE_EQUAL(out[0], static_cast<float>(me.rank()));
  me.barrier();
}

// A wait is for signals of this rank.
SCENARIO(AWaitForAnotherHostsSignalIsAnError, {.sizes = {2}, .hostings = {Hosting::hosts}}) {
  const auto window = me.window<std::int32_t>("signals", 4);
  ChipRank chip(me);
  const auto* theirs = reinterpret_cast<const std::int32_t*>(window.context()->windowsIn[1 - me.rank()]);
  require_error(Code::out_of_range, {"kernel 'lonely_wait'", "TWAIT", "lonely_wait.cpp:7", "on another host"},
                [&] { chip.run("lonely_wait", {argument(theirs)}); });
  me.barrier();
}

// The signal of a copy says that its bytes have arrived, whoever is told.
SCENARIO(AThirdRankIsToldWhenBytesHaveArrived, {.sizes = {3}}) {
  constexpr std::size_t kCount = 1000;
  const int rounds = scaled(200);
  const auto window = me.window<float>("window", kCount);
  auto arrived = me.signals("arrived", 1);
  ChipRank chip(me);
  HostTensor in(chip.memory(), kCount, "in");
  for (int round = 1; round <= rounds; ++round) {
    if (me.rank() == 0) {
      for (std::size_t i = 0; i < kCount; ++i) in[i] = static_cast<float>(round);
      chip.run("put_and_tell", {in.argument(), argument(window.context()), argument(window.data()), 1,
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

// Of a matrix whose rows lie apart only the block is touched.
SCENARIO(BlocksOfAMatrixAreReached, {.sizes = {2, 4}}) {
  constexpr std::size_t kRows = 6;
  constexpr std::size_t kCols = 5;
  constexpr std::size_t kPitch = 20;
  constexpr std::size_t kOtherHalf = 10;
  const auto window = me.window<float>("matrix", kRows * kPitch);
  const auto number = [&](std::size_t i) { return static_cast<float>(1000 * me.rank()) + static_cast<float>(i); };
  for (std::size_t i = 0; i < kRows * kPitch; ++i) window[i] = number(i);
  me.barrier();
  ChipRank chip(me);
  HostTensor out(chip.memory(), 1, "out");
  chip.run("blocks_and_rows",
           {out.argument(), argument(window.context()), argument(window.data()), (me.rank() + 1) % me.size()});
  REQUIRE_EQUAL(out[0], 0.0F);
  me.barrier();
  for (std::size_t i = 0; i < kRows * kPitch; ++i) {
    const std::size_t col = i % kPitch;
    const bool written = col >= kOtherHalf && col < kOtherHalf + kCols;
    REQUIRE_EQUAL(window[i], number(written ? i - kOtherHalf : i));
  }
}

}  // namespace baton::test
