#include "chip/cores/sim/sim_cores.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include <baton/inproc.hpp>

#include "chip_fixture.hpp"
#include "comm/domain_state.hpp"
#include "kernels.hpp"

namespace baton::chip {
namespace {

TEST(SimCores, ProfilesGiveTheNumberOfCores) {
  LonelyChip chip;
  const SimCores a2a3(profile_named("a2a3sim"), {}, *chip.memory);
  const SimCores a5(profile_named("a5sim"), {}, *chip.memory);
  const SimCores few(profile_named("a2a3sim"), {.clusters = 2}, *chip.memory);
  EXPECT_EQ(a2a3.core_count(), 72);
  EXPECT_EQ(a5.core_count(), 108);
  EXPECT_EQ(few.core_count(), 6);
  EXPECT_THROW(SimCores(profile_named("a2a3sim"), {.clusters = 25}, *chip.memory), Error);
  EXPECT_THROW(static_cast<void>(profile_named("a9")), Error);
}

TEST(SimCores, KernelsRunOnAllVectorCores) {
  LonelyChip chip;
  SimCores cores(profile_named("a2a3sim"), {}, *chip.memory);
  std::vector<float> a(kTileFloats), b(kTileFloats);
  std::iota(a.begin(), a.end(), 1.0F);
  std::iota(b.begin(), b.end(), 1000.0F);
  const ChipTensor ta = tensor_over(*chip.memory, a, "a");
  const ChipTensor tb = tensor_over(*chip.memory, b, "b");
  std::vector<std::vector<float>> outs(48, std::vector<float>(kTileFloats));
  std::vector<ChipTensor> touts;
  for (auto& out : outs) touts.push_back(tensor_over(*chip.memory, out, "out"));
  std::vector<KernelCall> calls(48);
  for (int i = 0; i < 48; ++i) {
    auto& call = calls[static_cast<std::size_t>(i)];
    call.entry = add_kernel;
    call.name = "add";
    call.args[0] = address(&ta);
    call.args[1] = address(&tb);
    call.args[2] = address(&touts[static_cast<std::size_t>(i)]);
    cores.post(cores.vector(i / 2, i % 2), call);
  }
  for (auto& call : calls) cores.wait(call);
  for (const auto& out : outs) {
    for (int j = 0; j < kTileFloats; ++j) ASSERT_EQ(out[static_cast<std::size_t>(j)], static_cast<float>(1001 + 2 * j));
  }
}

// A core remembers the memory that a kernel used, but only while that runs.
TEST(SimCores, MemoryThatWasFreedBetweenTwoCallsIsNotKnown) {
  LonelyChip chip;
  SimCores cores(profile_named("a2a3sim"), {.clusters = 1}, *chip.memory);
  std::vector<float> a(kTileFloats), b(kTileFloats), out(kTileFloats);
  const ChipTensor ta = tensor_over(*chip.memory, a, "a");
  const ChipTensor tb = tensor_over(*chip.memory, b, "b");
  const ChipTensor tout = tensor_over(*chip.memory, out, "out");
  const auto add = [&] {
    KernelCall call;
    call.entry = add_kernel;
    call.name = "add";
    call.args = {address(&ta), address(&tb), address(&tout)};
    return failure_of(cores, cores.vector(0, 0), call).first;
  };
  EXPECT_EQ(add(), Code::ok);
  chip.memory->remove_buffer(b.data());
  EXPECT_EQ(add(), Code::out_of_range);
}

TEST(SimCores, ErrorsNameKernelCoreInstructionAndLine) {
  LonelyChip chip;
  SimCores cores(profile_named("a2a3sim"), {.clusters = 2}, *chip.memory);
  std::vector<float> a(kTileFloats), small(kTileFloats / 2), out(kTileFloats);
  const ChipTensor ta = tensor_over(*chip.memory, a, "a");
  const ChipTensor tsmall = tensor_over(*chip.memory, small, "small");
  const ChipTensor tout = tensor_over(*chip.memory, out, "out");
  KernelCall call;
  call.entry = add_kernel;
  call.name = "add";
  call.args = {address(&ta), address(&tsmall), address(&tout)};
  const auto [code, message] = failure_of(cores, cores.vector(1, 1), call);
  EXPECT_EQ(code, Code::out_of_range);
  for (const char* part : {"kernel 'add'", "vector core 1.1", "TLOAD", "kernels.cpp:", "small"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  }
  // A vector tile does not exist on a cube core.
  EXPECT_NE(failure_of(cores, cores.cube(0), call).first, Code::ok);
}

TEST(SimCores, AForgottenFlagIsAnError) {
  LonelyChip chip;
  SimCores cores(profile_named("a2a3sim"), {.clusters = 1}, *chip.memory);
  KernelCall call;
  call.entry = forgotten_flag_kernel;
  call.name = "forgotten";
  const auto [code, message] = failure_of(cores, cores.vector(0, 0), call);
  EXPECT_EQ(code, Code::left_open);
  EXPECT_NE(message.find("flag 3 from PIPE_V to PIPE_MTE3"), std::string::npos) << message;
}

TEST(SimCores, CopiesHappenLaterAndAreThereWhenAwaited) {
  LonelyChip chip;
  SimCores cores(profile_named("a2a3sim"), {.clusters = 1}, *chip.memory);
  std::vector<float> from(100'000), to(100'000);
  std::iota(from.begin(), from.end(), 0.0F);
  const ChipTensor tfrom = tensor_over(*chip.memory, from, "from");
  const ChipTensor tto = tensor_over(*chip.memory, to, "to");
  KernelCall call;
  call.entry = copy_kernel;
  call.name = "copy";
  call.args = {address(&tfrom), address(&tto), 0};
  cores.post(cores.vector(0, 0), call);
  cores.wait(call);
  EXPECT_EQ(from, to);
  call.args[2] = 1;
  const auto [code, message] = failure_of(cores, cores.vector(0, 0), call);
  EXPECT_EQ(code, Code::left_open) << message;
}

TEST(SimCores, ACopyOutsideEveryTensorFailsAtItsEvent) {
  LonelyChip chip;
  SimCores cores(profile_named("a2a3sim"), {.clusters = 1}, *chip.memory);
  std::vector<float> from(1000), to(1000);
  const ChipTensor tfrom = tensor_over(*chip.memory, from, "from");
  ChipTensor tto = tensor_over(*chip.memory, to, "to");
  tto.start_offset = 500;
  KernelCall call;
  call.entry = copy_kernel;
  call.name = "copy";
  call.args = {address(&tfrom), address(&tto), 0};
  const auto [code, message] = failure_of(cores, cores.vector(0, 0), call);
  EXPECT_EQ(code, Code::out_of_range) << message;
}

TEST(SimCores, AWaitOutsideEveryWindowIsAnError) {
  LonelyChip chip;
  SimCores cores(profile_named("a2a3sim"), {.clusters = 1}, *chip.memory);
  alignas(4) char nowhere[8] = {};
  KernelCall call;
  call.entry = wait_kernel;
  call.name = "wait";
  call.args[0] = address(nowhere);
  EXPECT_EQ(failure_of(cores, cores.vector(0, 0), call).first, Code::out_of_range);
  std::vector<float> tensor(4);
  static_cast<void>(tensor_over(*chip.memory, tensor, "signals"));
  call.args[0] = address(tensor.data()) + 2;
  EXPECT_EQ(failure_of(cores, cores.vector(0, 0), call).first, Code::misaligned);
}

class ManyChips : public ::testing::TestWithParam<std::pair<int, int>> {};

TEST_P(ManyChips, RanksReduceWithKernelsThatWaitForEachOther) {
  const auto [ranks, clusters] = GetParam();
  constexpr int kRounds = 3;
  run_ranks(ranks, [clusters = clusters](Domain me) {
    auto window = me.window<float>("window", kTileFloats + 16);
    WindowMemory memory(comm::DomainAccess::state(me)->world_pointer());
    SimCores cores(profile_named("a2a3sim"), {.clusters = clusters}, memory);
    std::vector<float> in(kTileFloats), out(kTileFloats);
    const ChipTensor tin = tensor_over(memory, in, "in");
    const ChipTensor tout = tensor_over(memory, out, "out");
    for (int round = 0; round < kRounds; ++round) {
      for (int i = 0; i < kTileFloats; ++i)
        in[static_cast<std::size_t>(i)] = static_cast<float>(i + 100 * me.rank() + round);
      KernelCall call;
      call.entry = allreduce_kernel;
      call.name = "allreduce";
      call.args = {address(&tin), address(&tout), address(window.context()), address(window.data()), round};
      cores.post(cores.vector(0, 0), call);
      cores.wait(call);
      const int p = me.size();
      for (int i = 0; i < kTileFloats; ++i) {
        ASSERT_EQ(out[static_cast<std::size_t>(i)], static_cast<float>(p * (i + round) + 100 * p * (p - 1) / 2));
      }
    }
  });
}

#if defined(BATON_SANITIZE_THREAD)
constexpr std::pair kMost{8, 1};  // the sanitizer has room for few fibers
#else
constexpr std::pair kMost{16, 24};  // 1,152 cores
#endif

INSTANTIATE_TEST_SUITE_P(RanksAndClusters, ManyChips, ::testing::Values(std::pair{2, 1}, std::pair{5, 2}, kMost));

}  // namespace
}  // namespace baton::chip
