// Conditions that outlive a kernel, in both forms; arguments.
#include <cstring>

#include <gtest/gtest.h>

#include "backend/urma/urma_completion_kernel.h"
#include "intrinsic.h"
#include "platform_comm/comm_context.h"
#include "pto_async_kernel_api.h"
#include "tensor.h"
#include "test_core.hpp"

#include <pto/pto-inst.hpp>

namespace {

using baton::test::KernelFailure;
using baton::test::TestCore;

class Completion : public ::testing::Test {
 protected:
  Completion() {
    ctx = {&slab.count, &slab.error_code, slab.entries, DEFERRED_COMPLETION_CAPACITY, {7}};
    pto::TASSIGN(scratch, 0);
  }

  using Line = pto::GlobalTensor<float, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>>;
  TestCore core;
  DeferredCompletionSlab slab = {};
  AsyncCtx ctx = {};
  uint32_t word = 0;
  pto::Tile<pto::TileType::Vec, uint8_t, 1, 256> scratch;
  uint8_t workspace[64] = {};
  float from[16] = {1, 2, 3};
  float to[16] = {};
  Line src{from};
  Line dst{to};
};

TEST_F(Completion, RegistersConditions) {
  const auto address = reinterpret_cast<std::uintptr_t>(&word);
  EXPECT_TRUE(register_completion_condition(ctx, {address, 5, COMPLETION_ENGINE_CCU, COMPLETION_TYPE_COUNTER, 0}));
  save_expected_notification_counter(ctx, &word, 9);
  ASSERT_EQ(slab.count, 2u);
  EXPECT_EQ(slab.entries[0].addr, address);
  EXPECT_EQ(slab.entries[0].expected_value, 5u);
  EXPECT_EQ(slab.entries[0].engine, 3u);
  EXPECT_EQ(slab.entries[1].expected_value, 9u);
  EXPECT_EQ(slab.entries[1].completion_type, COMPLETION_TYPE_COUNTER);
  EXPECT_EQ(slab.error_code, 0);
}

TEST_F(Completion, RefusesWhatCannotBeWaitedFor) {
  const auto address = reinterpret_cast<std::uintptr_t>(&word);
  for (const CompletionToken& token :
       {CompletionToken{0, 1, 0, COMPLETION_TYPE_COUNTER, 0}, CompletionToken{address, 1, 0, 2, 0},
        CompletionToken{address, 1, 0, COMPLETION_TYPE_SDMA_EVENT_RECORD, 0}}) {
    slab.error_code = 0;
    EXPECT_FALSE(register_completion_condition(ctx, token));
    EXPECT_EQ(slab.error_code, PTO2_ERROR_ASYNC_COMPLETION_INVALID);
  }
  EXPECT_EQ(slab.count, 0u);
}

TEST_F(Completion, HasRoomFor64) {
  for (int i = 0; i < 64; ++i) save_expected_notification_counter(ctx, &word, 1);
  EXPECT_EQ(slab.error_code, 0);
  save_expected_notification_counter(ctx, &word, 1);
  EXPECT_EQ(slab.count, 64u);
  EXPECT_EQ(slab.error_code, PTO2_ERROR_ASYNC_WAIT_OVERFLOW);
}

TEST_F(Completion, NeedsADeferredTask) {
  ctx.task_token.raw = ~uint64_t{0};
  EXPECT_FALSE(async_ctx_is_deferred(ctx));
  save_expected_notification_counter(ctx, &word, 1);
  EXPECT_EQ(slab.count, 0u);
  EXPECT_EQ(slab.error_code, 0);
}

TEST_F(Completion, DefersACopy) {
  EXPECT_TRUE(send_request_entry(ctx, SdmaTget(dst, src, scratch, workspace)));
  ASSERT_EQ(slab.count, 1u);
  EXPECT_EQ(slab.entries[0].completion_type, COMPLETION_TYPE_SDMA_EVENT_RECORD);
  const auto* record = reinterpret_cast<const uint64_t*>(slab.entries[0].addr);
  EXPECT_LT(*record, slab.entries[0].backend_cookie);
  EXPECT_EQ(to[0], 0.0f);
  core.finish();  // nobody has to wait for it here
  core.advance_copies();
  EXPECT_GE(*record, slab.entries[0].backend_cookie);
  EXPECT_EQ(to[2], 3.0f);
}

TEST_F(Completion, AwaitsACopyThatCannotBeDeferred) {
  ctx.task_token.raw = ~uint64_t{0};
  EXPECT_TRUE(send_request_entry(ctx, SdmaTput(dst, src, scratch, workspace, 3)));
  EXPECT_EQ(to[2], 3.0f);
  EXPECT_EQ(slab.count, 0u);
  core.finish();
}

TEST_F(Completion, ReportsWhatHasNoSession) {
  EXPECT_FALSE(send_request_entry(ctx, SdmaTget(dst, src, scratch, nullptr)));
  EXPECT_EQ(slab.error_code, PTO2_ERROR_ASYNC_COMPLETION_INVALID);
}

TEST_F(Completion, DefersACopyOfThePeersEngine) {
  CommContextLarge context = {};
  context.first.windowsIn[1] = reinterpret_cast<std::uintptr_t>(from) - 64;
  context.more[0] = reinterpret_cast<std::uintptr_t>(from) - 128;
  auto* peers = reinterpret_cast<uint8_t*>(&context);
  EXPECT_EQ(pto2::urma_backend::peer_mr_ptr<float>(peers, 64, 128), from);
  Line there(pto2::urma_backend::peer_mr_ptr<float>(peers, 1, 64));
  EXPECT_TRUE(send_request_entry(ctx, UrmaTget(dst, there, peers, 1)));
  ASSERT_EQ(slab.count, 1u);
  EXPECT_EQ(slab.entries[0].engine, uint32_t{COMPLETION_ENGINE_URMA});
  core.advance_copies();
  EXPECT_EQ(to[2], 3.0f);
  EXPECT_FALSE(send_request_entry(ctx, UrmaTput(dst, src, nullptr, 1)));
  EXPECT_EQ(slab.error_code, PTO2_ERROR_ASYNC_COMPLETION_INVALID);
}

TEST_F(Completion, AnErrorOfItsOwnFailsTheTask) {
  pto2::detail::defer_error(ctx, 103);
  pto2::detail::defer_flush(ctx);
  EXPECT_EQ(slab.error_code, PTO2_ERROR_ASYNC_REGISTRATION_FAILED);
  static_assert(MAX_COMPLETIONS_PER_TASK == 64 && DMA_WORKSPACE_SDMA == 0 && DMA_WORKSPACE_URMA == 1);
}

TEST_F(Completion, SendsNotifications) {
  int32_t counter = 1;
  send_notification(&counter, 2, pto::comm::NotifyOp::AtomicAdd);
  EXPECT_EQ(counter, 3);
  pto2_send_notification(&counter);
  EXPECT_EQ(counter, 4);
  pto2_send_notification(&counter, 9, PTO2NotifyOp::Set);
  EXPECT_EQ(counter, 9);
}

TEST_F(Completion, OlderQueue) {
  PTO2CompletionQueue memory;
  std::memset(&memory, 0xff, sizeof memory);
  volatile PTO2CompletionQueue* queue = pto2_cq_get(reinterpret_cast<std::uintptr_t>(&memory));
  pto2_cq_reset(queue);
  EXPECT_EQ(memory.count, 0);
  int32_t counter = 0;
  pto2_save_expected_notification_counter(queue, &counter, 7);
  pto2_save_expected_completion(PTO2_ENGINE_ROCE, queue, 64);
  pto2_cq_flush(queue);
  pto2_cq_flush();
  ASSERT_EQ(memory.count, 2);
  EXPECT_EQ(memory.entries[0].addr, reinterpret_cast<std::uintptr_t>(&counter));
  EXPECT_EQ(memory.entries[0].expected_value, 7u);
  EXPECT_EQ(memory.entries[0].completion_type, COMPLETION_TYPE_COUNTER);
  EXPECT_EQ(memory.entries[1].engine, 1u);
  EXPECT_EQ(memory.entries[1].expected_value, 1u);
  for (int i = 0; i < 70; ++i) pto2_save_expected_completion(PTO2_ENGINE_SDMA, queue, 64, 1);
  EXPECT_EQ(memory.count, 72) << "the runtime sees that there were too many";
}

TEST_F(Completion, OlderRequests) {
  PTO2CompletionQueue memory = {};
  auto get = pto2_sdma_tget_descriptor(dst, src, scratch, workspace);
  const uint64_t flag = pto2_send_request_entry(PTO2_ENGINE_SDMA, PTO2_SQ_ID_AUTO, get);
  ASSERT_NE(flag, 0u);
  EXPECT_THROW(core.finish(), KernelFailure);
  pto2_save_expected_completion(PTO2_ENGINE_SDMA, &memory, flag);
  core.finish();
  EXPECT_EQ(*reinterpret_cast<const uint32_t*>(flag), 0u);
  core.advance_copies();
  EXPECT_GE(*reinterpret_cast<const uint32_t*>(flag), memory.entries[0].expected_value);
  EXPECT_EQ(to[2], 3.0f);
  to[2] = 0;
  auto there = pto2_sdma_descriptor(dst, src, scratch, workspace, 1);
  pto2_save_expected_completion(PTO2_ENGINE_SDMA, &memory,
                                pto2_send_request_entry(PTO2_ENGINE_SDMA, PTO2_SQ_ID_AUTO, there));
  core.advance_copies();
  EXPECT_EQ(to[2], 3.0f);
  auto put = pto2_remote_copy_descriptor(dst, src, scratch, static_cast<uint8_t*>(nullptr));
  EXPECT_EQ(pto2_send_request_entry(PTO2_ENGINE_SDMA, 0, put), 0u);
  EXPECT_EQ(pto2_send_request_entry(PTO2_ENGINE_URMA, 0, put), 0u);

  pto::comm::AsyncSession session;
  ASSERT_TRUE(pto::comm::BuildAsyncSession(scratch, workspace, session));
  const pto::comm::AsyncEvent event = pto::comm::TPUT_ASYNC(dst, src, session);
  pto2_save_expected_completion(&memory, event);
  EXPECT_EQ(memory.entries[2].addr, event.handle);
  core.finish();
}

TEST(Arguments, AreWhereTheRuntimePutsThem) {
  LocalContext local = {3, 8, {nullptr, nullptr, nullptr, 0, {11}}};
  uint8_t workspace[8];
  GlobalContext global = {1, {0, reinterpret_cast<std::uintptr_t>(workspace)}};
  int64_t args[50] = {};
  args[48] = static_cast<int64_t>(reinterpret_cast<std::uintptr_t>(&local));
  args[49] = static_cast<int64_t>(reinterpret_cast<std::uintptr_t>(&global));
  EXPECT_EQ(get_block_idx(args), 3);
  EXPECT_EQ(get_block_num(args), 8);
  EXPECT_EQ(get_sub_block_id(args), 1);
  EXPECT_EQ(get_dma_workspace(args, 0), nullptr);
  EXPECT_EQ(get_dma_workspace(args, 1), workspace);
  EXPECT_EQ(get_dma_workspace(args, 2), nullptr);
  EXPECT_EQ(get_async_ctx(args).task_token.raw, 11u);
  EXPECT_EQ(from_u64<float>(to_u64(1.5f)), 1.5f);
  EXPECT_EQ(from_u64<float>(0xdeadbeef00000000u | 0x3f800000u), 1.0f);
  EXPECT_EQ(from_u64<int32_t>(to_u64(int32_t{-4})), -4);
  static_assert(static_cast<int>(DataType::BOOL) == 11 && static_cast<int>(DataType::BFLOAT16) == 6);
  static_assert(std::is_same_v<Tensor, ChipTensor> && std::is_same_v<CommDeviceContext, CommContext>);
  static_assert(pto::comm::sdma::UB_ALIGN_SIZE == 256 && SDMA_SCRATCH_ALIGNMENT == 256);
}

}  // namespace
