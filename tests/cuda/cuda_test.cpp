// Chips of platform cuda beside simulated ones: the same kernels, graphs and errors.
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/kernel_source.hpp>

#include "gpu_test.hpp"

namespace {

using baton::Chip;
using baton::Graph;
using baton::Tensor;
using baton::test::GpuTest;
using testing::HasSubstr;

constexpr std::int64_t kTile = 4096;

/// Before anybody asks for the options of this process.
const int kShortWaits = ::setenv("BATON_WAIT_TIMEOUT", "2s", 1);

const baton::KernelFile& kernels() {
  static const baton::KernelFile file = baton::KernelFile::compile({.source = CUDA_TEST_KERNELS, .platform = "cuda"});
  return file;
}

const baton::Kernel& kernel(const char* name) {
  static std::map<std::string, baton::LoadedKernel> loaded;
  return loaded.try_emplace(name, kernels().kernel(name)).first->second.get();
}

std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> any(-10, 10);
  std::vector<float> out(count);
  for (float& value : out) value = any(generator);
  return out;
}

baton::Argument in(const Tensor& tensor) { return {baton::Access::in, tensor}; }
baton::Argument out(const Tensor& tensor) { return {baton::Access::out, tensor}; }
baton::Argument inout(const Tensor& tensor) { return {baton::Access::inout, tensor}; }
baton::Argument number(std::int64_t value) { return value; }

baton::Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const baton::Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return baton::Error(baton::Code::internal, "");
}

class Cuda : public GpuTest {};

/// Submits what makes sum = a + b.
using SubmitSum = std::function<void(Graph&, const Tensor& a, const Tensor& b, const Tensor& sum)>;

/// a + b on one chip.
std::vector<float> sum_on(const std::string& platform, const std::vector<float>& first,
                          const std::vector<float>& second, const SubmitSum& submit, int clusters = 0) {
  Chip chip({.platform = platform, .clusters = clusters});
  const auto count = static_cast<std::int64_t>(first.size());
  const Tensor a = chip.alloc<float>({count}, "a");
  const Tensor b = chip.alloc<float>({count}, "b");
  const Tensor sum = chip.alloc<float>({count}, "sum");
  chip.copy_in<float>(a, first);
  chip.copy_in<float>(b, second);
  chip.run([&](Graph& graph) { submit(graph, a, b, sum); });
  std::vector<float> result(first.size());
  chip.copy_out<float>(sum, result);
  return result;
}

/// A task for each tile.
void submit_tiles(Graph& graph, const Tensor& a, const Tensor& b, const Tensor& sum) {
  const std::int64_t count = sum.element_count();
  for (std::int64_t i = 0; i < count; i += kTile) {
    const std::int64_t end = std::min(i + kTile, count);
    const Tensor parts[] = {a.slice(i, end), b.slice(i, end), sum.slice(i, end)};
    graph.submit(kernel("add"), {in(parts[0]), in(parts[1]), out(parts[2])});
  }
}

/// One task of several blocks, which load the next tiles while they add one.
void submit_stream(Graph& graph, const Tensor& a, const Tensor& b, const Tensor& sum) {
  graph.submit(kernel("add_stream"), {in(a), in(b), out(sum)}, {.blocks = 3});
}

TEST_F(Cuda, CopiesThatGoOnGiveTheBitsOfTheSimulator) {
  const std::vector<float> first = numbers(100'003, 6);
  const std::vector<float> second = numbers(100'003, 7);
  EXPECT_EQ(sum_on("cuda", first, second, submit_stream), sum_on("a2a3sim", first, second, submit_stream));
}

TEST_F(Cuda, GivesTheBitsOfTheSimulator) {
  const std::vector<float> first = numbers(100'003, 1);
  const std::vector<float> second = numbers(100'003, 2);
  EXPECT_EQ(sum_on("cuda", first, second, submit_tiles), sum_on("a2a3sim", first, second, submit_tiles));
}

/// Several cores on each multiprocessor, or fewer than there are.
TEST_F(Cuda, MoreAndFewerCoresGiveTheSameBits) {
  const int all = Chip({.platform = "cuda"}).clusters();
  const std::vector<float> first = numbers(1'000'003, 8);
  const std::vector<float> second = numbers(1'000'003, 9);
  const std::vector<float> expected = sum_on("a2a3sim", first, second, submit_tiles);
  for (const int clusters : {1, all / 2, 2 * all, 3 * all, 4 * all}) {
    EXPECT_EQ(Chip({.platform = "cuda", .clusters = clusters}).clusters(), clusters);
    EXPECT_EQ(sum_on("cuda", first, second, submit_tiles, clusters), expected) << clusters << " clusters";
  }
  const baton::Error error = error_of([&] { Chip({.platform = "cuda", .clusters = 100 * all}); });
  EXPECT_EQ(error.code(), baton::Code::out_of_range) << error.what();
}

std::vector<float> softmax_on(const std::string& platform, const std::vector<float>& values) {
  Chip chip({.platform = platform});
  const Tensor x = chip.alloc<float>({16, 64}, "x");
  const Tensor y = chip.alloc<float>({16, 64}, "y");
  chip.copy_in<float>(x, values);
  chip.run([&](Graph& graph) { graph.submit(kernel("softmax"), {in(x), out(y)}); });
  std::vector<float> result(values.size());
  chip.copy_out<float>(y, result);
  return result;
}

TEST_F(Cuda, RowsThroughReductionsAndExponentialsAreAsCloseAsFloatsAre) {
  const std::vector<float> values = numbers(16 * 64, 3);
  const std::vector<float> gpu = softmax_on("cuda", values);
  const std::vector<float> host = softmax_on("a2a3sim", values);
  for (std::size_t i = 0; i < gpu.size(); ++i) EXPECT_NEAR(gpu[i], host[i], 1e-6F) << i;
}

/// Stores go on after a kernel has ended: a task that depends on it must wait for them, on whatever core.
TEST_F(Cuda, ScalarCodeSeesWhatTheTaskBeforeItStored) {
  constexpr std::int32_t kRounds = 200;
  Chip chip({.platform = "cuda"});
  const std::vector<float> first = numbers(kTile, 4);
  const std::vector<float> second = numbers(kTile, 5);
  const Tensor a = chip.alloc<float>({kTile}, "a");
  const Tensor b = chip.alloc<float>({kTile}, "b");
  const Tensor sum = chip.alloc<float>({kTile}, "sum");
  const Tensor seen = chip.alloc<float>({kRounds}, "seen");
  chip.copy_in<float>(a, first);
  chip.copy_in<float>(b, second);
  chip.run([&](Graph& graph) {
    for (std::int32_t i = 0; i < kRounds; ++i) {
      // sum = a + b, then sum = sum + b, and so on: each round has a value of its own.
      graph.submit(kernel("add"), {in(i == 0 ? a : sum), in(b), out(sum)});
      graph.submit(kernel("read_back"), {in(sum), inout(seen), number(i)});
    }
  });
  std::vector<float> result(kRounds);
  chip.copy_out<float>(seen, result);
  float expected = first.back();
  for (std::int32_t i = 0; i < kRounds; ++i) {
    expected += second.back();
    EXPECT_EQ(result[static_cast<std::size_t>(i)], expected) << i;
  }
}

TEST_F(Cuda, ScalarCodeOfAKernelRunsOnce) {
  Chip chip({.platform = "cuda"});
  const Tensor counter = chip.alloc<std::int32_t>({1}, "counter");
  // A chain: each task depends on the one before it.
  chip.run([&](Graph& graph) {
    for (int i = 1; i <= 100; ++i) graph.submit(kernel("count_up"), {inout(counter), number(i)});
  });
  std::vector<std::int32_t> result(1);
  chip.copy_out<std::int32_t>(counter, result);
  EXPECT_EQ(result[0], 5050);
}

TEST_F(Cuda, BlocksKnowTheirNumbersAndMayMeet) {
  Chip chip({.platform = "cuda"});
  const std::uint32_t blocks = static_cast<std::uint32_t>(chip.vector_cores());
  const Tensor numbered = chip.alloc<std::int32_t>({blocks}, "numbered");
  const Tensor arrived = chip.alloc<std::int32_t>({1}, "arrived");
  chip.run([&](Graph& graph) {
    graph.submit(kernel("meet"), {inout(arrived)}, {.blocks = blocks, .start_together = true});
    graph.submit(kernel("number_blocks"), {out(numbered)}, {.blocks = blocks});
  });
  std::vector<std::int32_t> result(blocks);
  chip.copy_out<std::int32_t>(numbered, result);
  for (std::uint32_t i = 0; i < blocks; ++i) EXPECT_EQ(result[i], static_cast<std::int32_t>(i * 1000 + blocks));
}

TEST_F(Cuda, ATaskWithACompletionQueueIsCompleteWhenItsConditionsHold) {
  constexpr std::int64_t kSteps = 2000;
  constexpr std::int64_t kTooMany = 65;
  Chip chip({.platform = "cuda"});
  const Tensor counter = chip.alloc<std::int32_t>({1}, "counter");
  const Tensor seen = chip.alloc<std::int32_t>({1}, "seen");
  const auto submit = [&](Graph& graph, std::int64_t times) {
    const baton::Argument untouched(baton::Access::no_dependency, counter);
    const baton::TaskId waits = graph.submit_arguments(
        kernel("await_in_queue"), std::vector<baton::Argument>{untouched, number(kSteps), number(times)},
        {.completion_queue = true});
    graph.submit(kernel("count_slowly"), {inout(counter), number(kSteps)});
    graph.submit(kernel("copy_word"), {{baton::Access::no_dependency, counter}, out(seen)}, {.after = {waits}});
  };
  std::vector<std::int32_t> result(1);
  baton::CapturedGraph captured = chip.capture([&](Graph& graph) { submit(graph, 1); });
  for (const bool is_captured : {false, true}) {
    chip.copy_in<std::int32_t>(counter, result = {0});
    if (is_captured) {
      chip.run(captured);
    } else {
      chip.run([&](Graph& graph) { submit(graph, 64); });
    }
    chip.copy_out<std::int32_t>(seen, result);
    EXPECT_EQ(result[0], kSteps) << (is_captured ? "captured" : "task by task");
  }
  const baton::Error error = error_of([&] { chip.run([&](Graph& graph) { submit(graph, kTooMany); }); });
  EXPECT_EQ(error.code(), baton::Code::too_many_conditions) << error.what();
  EXPECT_THAT(error.what(), HasSubstr("registered 65 completion conditions in a queue with room for 64"));
}

TEST_F(Cuda, CapturedGraphsRunManyTimesWithOtherBuffers) {
  Chip chip({.platform = "cuda"});
  const Tensor counter = chip.alloc<std::int32_t>({64}, "counter");
  const Tensor other = chip.alloc<std::int32_t>({64}, "other");
  std::vector<Tensor> cells;
  for (int i = 0; i < 64; ++i) cells.push_back(counter.slice(i, i + 1));
  baton::CapturedGraph graph = chip.capture([&](Graph& g) {
    for (int step = 0; step < 10; ++step) {
      for (int i = 0; i < 64; ++i) g.submit(kernel("count_up"), {inout(cells[static_cast<std::size_t>(i)]), number(i)});
    }
  });
  for (int run = 0; run < 20; ++run) chip.run(graph);
  chip.run(graph, {{counter, other}});
  std::vector<std::int32_t> result(64);
  chip.copy_out<std::int32_t>(counter, result);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(result[static_cast<std::size_t>(i)], 200 * i);
  chip.copy_out<std::int32_t>(other, result);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(result[static_cast<std::size_t>(i)], 10 * i);
}

TEST_F(Cuda, AnOrchestrationMayLookAtWhatTasksWrote) {
  Chip chip({.platform = "cuda"});
  const Tensor counter = chip.alloc<std::int32_t>({1}, "counter");
  std::vector<std::int32_t> seen;
  chip.run([&](Graph& graph) {
    for (int i = 0; i < 3; ++i) {
      graph.submit(kernel("count_up"), {inout(counter), number(5)});
      seen.push_back(graph.get<std::int32_t>(counter, {0}));
    }
    graph.set<std::int32_t>(counter, {0}, 100);
    graph.submit(kernel("count_up"), {inout(counter), number(1)});
    seen.push_back(graph.get<std::int32_t>(counter, {0}));
  });
  EXPECT_EQ(seen, (std::vector<std::int32_t>{5, 10, 15, 101}));
}

/// Any graph of additions to elements gives the sums of a loop.
TEST_F(Cuda, RandomGraphsGiveWhatALoopGives) {
  Chip chip({.platform = "cuda"});
  constexpr std::int32_t kCells = 37;
  const Tensor cells = chip.alloc<std::int32_t>({kCells}, "cells");
  std::mt19937 generator(7);
  std::vector<std::int32_t> expected(kCells, 0);
  for (int run = 0; run < 5; ++run) {
    chip.run([&](Graph& graph) {
      for (int i = 0; i < 2000; ++i) {
        const auto cell = static_cast<std::int32_t>(generator() % kCells);
        const auto by = static_cast<std::int32_t>(generator() % 100);
        expected[static_cast<std::size_t>(cell)] += by;
        const Tensor one = cells.slice(cell, cell + 1);
        graph.submit(kernel("count_up"), {inout(one), number(by)});
      }
    });
  }
  std::vector<std::int32_t> result(kCells);
  chip.copy_out<std::int32_t>(cells, result);
  EXPECT_EQ(result, expected);
}

TEST_F(Cuda, AFailedCheckIsAnErrorWithKernelInstructionFileAndLineAndTheChipGoesOn) {
  Chip chip({.platform = "cuda"});
  const Tensor a = chip.alloc<float>({kTile}, "a");
  const Tensor counter = chip.alloc<std::int32_t>({1}, "counter");
  for (int round = 0; round < 3; ++round) {
    const baton::Error error = error_of([&] {
      chip.run([&](Graph& graph) {
        const baton::TaskId failing = graph.submit(kernel("too_much"), {in(a)});
        graph.submit(kernel("count_up"), {inout(counter), number(1)}, {.after = {failing}});
      });
    });
    EXPECT_EQ(error.code(), baton::Code::out_of_range) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("kernel 'too_much' on core"));
    EXPECT_THAT(error.what(), HasSubstr("kernels.cpp:"));
    EXPECT_THAT(error.what(), HasSubstr("1 task did not run: count_up"));
  }
  const baton::Error stray = error_of([&] { chip.run([&](Graph& graph) { graph.submit(kernel("stray"), {in(a)}); }); });
  EXPECT_EQ(stray.code(), baton::Code::out_of_range) << stray.what();
  EXPECT_THAT(stray.what(), HasSubstr("lie in no tensor or window"));
  chip.run([&](Graph& graph) { graph.submit(kernel("count_up"), {inout(counter), number(1)}); });
  std::vector<std::int32_t> result(1);
  chip.copy_out<std::int32_t>(counter, result);
  EXPECT_EQ(result[0], 1);
}

TEST_F(Cuda, AWaitThatNobodyEndsEndsAtItsDeadline) {
  Chip chip({.platform = "cuda"});
  const Tensor word = chip.alloc<std::int32_t>({1}, "word");
  const auto start = std::chrono::steady_clock::now();
  const baton::Error error =
      error_of([&] { chip.run([&](Graph& graph) { graph.submit(kernel("lonely"), {inout(word)}); }); });
  EXPECT_EQ(error.code(), baton::Code::wait_timeout) << error.what();
  EXPECT_THAT(error.what(), HasSubstr("(has 0, needs 7)"));
  EXPECT_THAT(error.what(), HasSubstr("TWAIT at"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST_F(Cuda, MemoryOfTheHostIsRefused) {
  Chip chip({.platform = "cuda"});
  std::vector<float> mine(16);
  const baton::Error error = error_of([&] { static_cast<void>(chip.add(std::span(mine), "mine")); });
  EXPECT_EQ(error.code(), baton::Code::unsupported);
  EXPECT_THAT(error.what(), HasSubstr("copy_in"));
}

TEST_F(Cuda, AKernelWithoutCodeForTheGpuSaysHowToGetIt) {
  Chip chip({.platform = "cuda"});
  const baton::KernelFile host = baton::KernelFile::compile({.source = CUDA_TEST_KERNELS});
  const Tensor counter = chip.alloc<std::int32_t>({1}, "counter");
  const baton::LoadedKernel count_up = host.kernel("count_up");
  const baton::Error error = error_of([&] {
    chip.run([&](Graph& graph) { graph.submit(count_up.get(), {inout(counter), number(1)}); });
  });
  EXPECT_EQ(error.code(), baton::Code::not_a_kernel);
  EXPECT_THAT(error.what(), HasSubstr("--platform cuda"));
}

}  // namespace
