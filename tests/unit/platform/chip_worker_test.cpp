#include <baton/platform.h>
#include <baton/chip_worker.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/comm_context.h>
#include <baton/error.hpp>
#include <baton/kernel_source.hpp>

namespace {

using baton::ChipWorker;
using testing::HasSubstr;

constexpr const char* kScale = R"(
#include <cstring>
#include "tensor.h"
extern "C" void kernel_entry(int64_t* args) {
  const auto* x = reinterpret_cast<const Tensor*>(args[0]);
  const auto* y = reinterpret_cast<const Tensor*>(args[1]);
  const auto* from = reinterpret_cast<const float*>(x->buffer.addr) + x->start_offset;
  auto* to = reinterpret_cast<float*>(y->buffer.addr) + y->start_offset;
  for (unsigned i = 0; i < y->shapes[0]; ++i) to[i] = from[i] * static_cast<float>(args[2]);
}
)";

std::string library_of(const char* text) {
  ::setenv("BATON_CACHE_DIR", PLATFORM_TEST_CACHE, 1);
  return baton::KernelFile::compile({.source = "scale", .text = text}).path();
}

std::string message_of(const std::function<void()>& call, baton::Code expected) {
  try {
    call();
  } catch (const baton::Error& error) {
    EXPECT_EQ(error.code(), expected) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

class Platform : public testing::TestWithParam<const char*> {};

TEST_P(Platform, RunsAKernelOnMemoryOfTheDevice) {
  ChipWorker worker(GetParam());
  const baton::Buffer x = worker.alloc(64 * sizeof(float));
  const baton::Buffer y = worker.alloc(64 * sizeof(float));
  std::vector<float> host(64);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);
  worker.copy_in(x, std::as_bytes(std::span(host)));
  const auto kernel = worker.load_kernel(library_of(kScale));
  // The second half, three times as large.
  const baton::Tensor from = baton::Tensor(x, baton::DType::float32, {64}).slice(32, 64);
  const baton::Tensor to = baton::Tensor(y, baton::DType::float32, {64}).slice(32, 64);
  const std::vector<baton::Argument> arguments = {{baton::Access::in, from}, {baton::Access::out, to}, std::int64_t{3}};
  worker.run(kernel, arguments);
  std::vector<float> result(64);
  worker.copy_out(std::as_writable_bytes(std::span(result)), y);
  EXPECT_EQ(result[31], 0);
  EXPECT_EQ(result[40], 120);
  worker.free(x);
  EXPECT_THAT(message_of([&] { worker.free(x); }, baton::Code::released), HasSubstr("freed before"));
}

TEST_P(Platform, RefusesWhatMakesNoSense) {
  ChipWorker worker(GetParam());
  const baton::Buffer memory = worker.alloc(16);
  std::vector<std::byte> host(32);
  message_of([&] { worker.copy_in(memory, host); }, baton::Code::out_of_range);
  message_of([&] { worker.copy_out(host, memory, 1); }, baton::Code::out_of_range);
  EXPECT_THAT(message_of([&] { static_cast<void>(worker.load_kernel(library_of(kScale), "nothing")); },
                         baton::Code::not_a_kernel),
              HasSubstr("nothing"));
  message_of([&] { worker.run({}, {}); }, baton::Code::invalid_argument);
  worker.close();
  message_of([&] { static_cast<void>(worker.alloc(1)); }, baton::Code::released);
}

INSTANTIATE_TEST_SUITE_P(All, Platform, testing::Values("a2a3sim", "a5sim", PLATFORM_TEMPLATE));

class Group : public testing::TestWithParam<const char*> {};

TEST_P(Group, GivesEveryRankTheWindowsOfAll) {
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([rank] {
      ChipWorker worker(GetParam(), rank);
      worker.comm_init(rank, 3, "inproc:chip_worker");
      const auto* context = reinterpret_cast<const CommContext*>(worker.comm_alloc_windows(4096));
      EXPECT_EQ(worker.comm_get_window_size(), 4096U);
      EXPECT_EQ(context->rankId, static_cast<std::uint32_t>(rank));
      EXPECT_EQ(context->windowsIn[rank], worker.comm_get_local_window_base());
      *reinterpret_cast<int*>(worker.comm_get_local_window_base()) = 100 + rank;
      worker.comm_barrier();
      for (int peer = 0; peer < 3; ++peer) {
        EXPECT_EQ(*reinterpret_cast<const int*>(context->windowsIn[peer]), 100 + peer);
      }
      worker.comm_barrier();
      worker.comm_destroy();
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

TEST_P(Group, TellsWhatIsWrong) {
  ChipWorker worker(GetParam());
  EXPECT_THAT(message_of([&] { worker.comm_barrier(); }, baton::Code::invalid_argument), HasSubstr("comm_init"));
  EXPECT_THAT(message_of([&] { worker.comm_init(4, 2, "inproc:x"); }, baton::Code::out_of_range),
              HasSubstr("rank 4 is outside 0..1"));
  worker.comm_init(0, 1, "inproc:alone");
  EXPECT_THAT(message_of([&] { static_cast<void>(worker.comm_get_window_size()); }, baton::Code::invalid_argument),
              HasSubstr("comm_alloc_windows() was not called yet"));
  message_of([&] { worker.comm_init(0, 1, "inproc:alone"); }, baton::Code::invalid_argument);
}

TEST_P(Group, IsJoinedBeforeTheDeviceIsUsed) {
  ChipWorker worker(GetParam());
  static_cast<void>(worker.alloc(16));
  EXPECT_THAT(message_of([&] { worker.comm_init(0, 1, "inproc:late"); }, baton::Code::invalid_argument),
              HasSubstr("before it joined a group"));
}

INSTANTIATE_TEST_SUITE_P(All, Group, testing::Values("a2a3sim", "a5sim"));

TEST(PlatformLibrary, MayLackOptionalFunctionsUntilTheyAreCalled) {
  ChipWorker worker(PLATFORM_TEMPLATE);
  EXPECT_TRUE(worker.has("baton_graph_run"));
  EXPECT_FALSE(worker.has("comm_init"));
  for (const std::string& message : {
           message_of([&] { worker.comm_init(0, 1, "x"); }, baton::Code::unsupported),
           message_of([&] { worker.comm_barrier(); }, baton::Code::unsupported),
           message_of([&] { static_cast<void>(worker.comm_alloc_windows(1)); }, baton::Code::unsupported),
       }) {
    EXPECT_THAT(message, HasSubstr("libbaton_template.so has no function comm_"));
  }
}

TEST(PlatformLibrary, OfAnotherVersionIsRefusedBeforeItRuns) {
  EXPECT_THAT(message_of([] { ChipWorker worker(PLATFORM_OLD); }, baton::Code::unsupported),
              HasSubstr("has version 4711 of the platform interface; this Baton has " +
                        std::to_string(BATON_PLATFORM_VERSION)));
}

TEST(PlatformLibrary, ThatIsMissingOrNoLibraryIsToldWithItsPath) {
  EXPECT_THAT(message_of([] { ChipWorker worker("nonesuch"); }, baton::Code::invalid_argument),
              HasSubstr("libbaton_nonesuch.so"));
  EXPECT_THAT(message_of([] { ChipWorker worker("/nowhere/libbaton_x.so"); }, baton::Code::unsupported),
              HasSubstr("/nowhere/libbaton_x.so"));
  message_of([] { ChipWorker worker("a b"); }, baton::Code::invalid_argument);
  const std::string text = testing::TempDir() + "/libbaton_text.so";
  std::ofstream(text) << "no library";
  EXPECT_THAT(message_of([&] { ChipWorker worker(text); }, baton::Code::unsupported), HasSubstr(text));
  // A library, but no platform.
  EXPECT_THAT(message_of([] { ChipWorker worker(library_of(kScale)); }, baton::Code::unsupported),
              HasSubstr("baton_platform_version"));
}

}  // namespace
