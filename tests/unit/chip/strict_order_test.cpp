// Kernels under the strict order of pipes: each forgotten flag is an error, whatever the timing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include <fmt/format.h>
#include <baton/inproc.hpp>

#include "chip_fixture.hpp"
#include "comm/domain_state.hpp"
#include "kernels.hpp"
#include "order_kernels.hpp"

namespace baton::chip {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Pipeline {
  Pipeline() {
    std::iota(in.begin(), in.end(), 1.0F);
    call.entry = pipeline_kernel;
    call.name = "pipeline";
  }
  std::pair<Code, std::string> run(PipeOrder order, Forget forget) {
    SimCores cores(profile_named("a2a3sim"), {.clusters = 1, .order = order}, *chip.memory);
    call.args = {address(&tin), address(&tout), static_cast<std::int64_t>(forget)};
    return failure_of(cores, cores.vector(0, 0), call);
  }
  LonelyChip chip;
  std::vector<float> in = std::vector<float>(kTileFloats);
  std::vector<float> out = std::vector<float>(kTileFloats);
  ChipTensor tin = tensor_over(*chip.memory, in, "in");
  ChipTensor tout = tensor_over(*chip.memory, out, "out");
  KernelCall call;
};

TEST(StrictOrder, WhatFlagsPromiseIsEnough) {
  Pipeline pipeline;
  for (const Forget forget : {Forget::nothing, Forget::transitive}) {
    const auto [code, message] = pipeline.run(PipeOrder::strict, forget);
    EXPECT_EQ(code, Code::ok) << message;
    const float factor = forget == Forget::nothing ? 4.0F : 2.0F;
    EXPECT_EQ(pipeline.out.back(), factor * pipeline.in.back());
  }
}

TEST(StrictOrder, KnowsInstructionsThatSelect) {
  Pipeline pipeline;
  pipeline.call.entry = selecting_kernel;
  const auto [code, message] = pipeline.run(PipeOrder::strict, Forget::nothing);
  EXPECT_EQ(code, Code::ok) << message;
  EXPECT_EQ(pipeline.out[0], pipeline.in[63]);
  const auto expect_conflict = [&](Forget forget, const char* second, const char* first) {
    EXPECT_EQ(pipeline.run(PipeOrder::program, forget).first, Code::ok);
    const auto [wrong, why] = pipeline.run(PipeOrder::strict, forget);
    EXPECT_EQ(wrong, Code::pipe_order);
    EXPECT_THAT(why, AllOf(HasSubstr(second), HasSubstr(first)));
  };
  expect_conflict(Forget::count_before_gather, "TGATHER at", "TCI at");
  expect_conflict(Forget::gather_before_store, "TSTORE at", "TGATHER at");
  expect_conflict(Forget::scatter_before_load, "TLOAD at", "MSCATTER at");
}

struct Forgotten {
  Forget forget;
  std::vector<std::string> parts;
};

class StrictOrderOf : public ::testing::TestWithParam<Forgotten> {};

TEST_P(StrictOrderOf, AForgottenFlagIsAnErrorThatNamesBothSides) {
  Pipeline pipeline;
  // In program order the kernel gets away with it.
  EXPECT_EQ(pipeline.run(PipeOrder::program, GetParam().forget).first, Code::ok);
  const auto [code, message] = pipeline.run(PipeOrder::strict, GetParam().forget);
  EXPECT_EQ(code, Code::pipe_order);
  EXPECT_THAT(message, AllOf(HasSubstr("kernel 'pipeline' on vector core 0.0"), HasSubstr("order_kernels.cpp:")));
  for (const std::string& part : GetParam().parts) EXPECT_THAT(message, HasSubstr(part));
}

INSTANTIATE_TEST_SUITE_P(
    Flags, StrictOrderOf,
    ::testing::Values(Forgotten{Forget::load_before_add,
                                {": TADD at ", "it reads bytes 0 to 4095 of the Vec buffer on PIPE_V, which TLOAD at ",
                                 "writes on PIPE_MTE2", "set_flag(PIPE_MTE2, PIPE_V, id)",
                                 "wait_flag(PIPE_MTE2, PIPE_V, id)"}},
                      Forgotten{Forget::add_before_next_load,
                                {": TLOAD at ", "it writes bytes 0 to 4095", "which TADD at ", "reads on PIPE_V",
                                 "set_flag(PIPE_V, PIPE_MTE2, id)"}},
                      Forgotten{Forget::add_before_store,
                                {": TSTORE at ", "reads bytes 4096 to 8191 of the Vec buffer", "which TADD at ",
                                 "set_flag(PIPE_V, PIPE_MTE3, id)"}},
                      Forgotten{Forget::store_before_next_add,
                                {": TADD at ", "writes bytes 4096 to 8191", "which TSTORE at ", "reads on PIPE_MTE3",
                                 "set_flag(PIPE_MTE3, PIPE_V, id)"}},
                      Forgotten{Forget::store_before_load,
                                {": TLOAD at ", "reads 4096 bytes at out+0 on PIPE_MTE2", "which TSTORE at ",
                                 "set_flag(PIPE_MTE3, PIPE_MTE2, id)"}}));

TEST(StrictOrder, HoldsOnCubeCores) {
  LonelyChip chip;
  std::vector<float> a(256, 1.0F), b(256, 2.0F), out(256);
  const ChipTensor ta = tensor_over(*chip.memory, a, "a");
  const ChipTensor tb = tensor_over(*chip.memory, b, "b");
  const ChipTensor tout = tensor_over(*chip.memory, out, "out");
  SimCores cores(profile_named("a2a3sim"), {.clusters = 1, .order = PipeOrder::strict}, *chip.memory);
  const auto run = [&](Forget forget) {
    KernelCall call;
    call.entry = matmul_kernel;
    call.name = "matmul";
    call.args = {address(&ta), address(&tb), address(&tout), static_cast<std::int64_t>(forget)};
    return failure_of(cores, cores.cube(0), call);
  };
  const auto [code, message] = run(Forget::nothing);
  EXPECT_EQ(code, Code::ok) << message;
  EXPECT_EQ(out.back(), 32.0F);
  EXPECT_THAT(run(Forget::load_before_move).second, AllOf(HasSubstr(": TMOV at "), HasSubstr("of the Mat buffer"),
                                                          HasSubstr("set_flag(PIPE_MTE2, PIPE_MTE1, id)")));
  EXPECT_THAT(run(Forget::move_before_matmul).second,
              AllOf(HasSubstr(": TMATMUL at "), HasSubstr("set_flag(PIPE_MTE1, PIPE_M, id)")));
  EXPECT_THAT(run(Forget::matmul_before_store).second, AllOf(HasSubstr(": TSTORE at "), HasSubstr("of the Acc buffer"),
                                                             HasSubstr("set_flag(PIPE_M, PIPE_FIX, id)")));
}

TEST(StrictOrder, ANotifyThatOvertakesItsStoreIsAnError) {
  for (const Forget forget : {Forget::nothing, Forget::store_before_notify}) {
    run_ranks(2, [forget](Domain me) {
      auto window = me.window<float>("window", kTileFloats + 16);
      WindowMemory memory(comm::DomainAccess::state(me)->world_pointer());
      std::vector<float> in(kTileFloats);
      const ChipTensor tin = tensor_over(memory, in, "in");
      SimCores cores(profile_named("a2a3sim"), {.clusters = 1, .order = PipeOrder::strict}, memory);
      KernelCall call;
      call.entry = notifier_kernel;
      call.name = "notifier";
      call.args = {address(&tin), address(window.context()), address(window.data()), static_cast<std::int64_t>(forget)};
      const auto [code, message] = failure_of(cores, cores.vector(0, 0), call);
      if (forget == Forget::nothing) {
        EXPECT_EQ(code, Code::ok) << message;
      } else {
        EXPECT_EQ(code, Code::pipe_order);
        EXPECT_THAT(message, AllOf(HasSubstr(": TNOTIFY at "), HasSubstr("it overtakes TSTORE at "),
                                   HasSubstr(fmt::format("window[{}]+0", 1 - me.rank())),
                                   HasSubstr("set_flag(PIPE_MTE3, PIPE_S, id)")));
      }
      me.barrier();
    });
  }
}

TEST(StrictOrder, KernelsOfManyRanksPass) {
  run_ranks(3, [](Domain me) {
    auto window = me.window<float>("window", kTileFloats + 16);
    WindowMemory memory(comm::DomainAccess::state(me)->world_pointer());
    std::vector<float> in(kTileFloats, 1.0F), out(kTileFloats);
    const ChipTensor tin = tensor_over(memory, in, "in");
    const ChipTensor tout = tensor_over(memory, out, "out");
    SimCores cores(profile_named("a2a3sim"), {.clusters = 1, .order = PipeOrder::strict}, memory);
    KernelCall call;
    call.entry = allreduce_kernel;
    call.name = "allreduce";
    call.args = {address(&tin), address(&tout), address(window.context()), address(window.data()), 0};
    cores.post(cores.vector(0, 0), call);
    cores.wait(call);
    EXPECT_EQ(out.front(), 3.0F);
  });
}

}  // namespace
}  // namespace baton::chip
