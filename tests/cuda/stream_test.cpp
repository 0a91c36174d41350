// Tasks of a chip of platform cuda that run while others are submitted, on cores that stay between runs.
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/kernel_source.hpp>
#include <baton/options.hpp>

#include "gpu_here.hpp"

namespace {

using baton::Access;
using baton::Argument;
using baton::Chip;
using baton::Graph;
using baton::Tensor;
using baton::test::missing_gpu;
using testing::HasSubstr;

/// Before anybody asks for the options of this process.
const int kShortWaits = ::setenv("BATON_WAIT_TIMEOUT", "2s", 1);
const int kCoresStay = ::setenv("BATON_GPU_STAY", "0.5ms", 0);

const baton::Kernel& kernel(const char* name) {
  static const baton::KernelFile file = baton::KernelFile::compile({.source = CUDA_TEST_KERNELS, .platform = "cuda"});
  static std::map<std::string, baton::LoadedKernel> loaded;
  return loaded.try_emplace(name, file.kernel(name)).first->second.get();
}

Argument number(std::int32_t value) { return Argument(static_cast<std::int64_t>(value)); }

std::int32_t value_of(Chip& chip, const Tensor& one) {
  std::vector<std::int32_t> value(1);
  chip.copy_out<std::int32_t>(one, value);
  return value[0];
}

class CudaStream : public testing::Test {
 protected:
  void SetUp() override {
    if (baton::options().gpu_stay.count() == 0) GTEST_SKIP() << "BATON_GPU_STAY is 0: tasks run when all are submitted";
    if (missing_gpu()) GTEST_SKIP() << *missing_gpu();
  }
};

TEST_F(CudaStream, TasksRunWhileTheOrchestrationStillSubmits) {
  Chip chip({.platform = "cuda"});
  const Tensor counter = chip.alloc<std::int32_t>({1}, "counter");
  for (int round = 0; round < 3; ++round) {
    chip.run([&](Graph& graph) {
      graph.submit(kernel("count_up"), {{Access::inout, counter}, number(1)});
      const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (value_of(chip, counter) != 2 * round + 1) ASSERT_LT(std::chrono::steady_clock::now(), limit);
      graph.submit(kernel("count_up"), {{Access::inout, counter}, number(1)});
    });
    EXPECT_EQ(value_of(chip, counter), 2 * round + 2);
  }
}

/// Rings and tables are filled many times.
TEST_F(CudaStream, GraphsOfAnyLengthGiveWhatALoopGives) {
  Chip chip({.platform = "cuda"});
  constexpr std::int32_t kCells = 500;
  constexpr int kTasks = 150'000;
  const Tensor cells = chip.alloc<std::int32_t>({kCells}, "cells");
  std::mt19937 generator(11);
  std::vector<std::int32_t> expected(kCells, 0);
  chip.run([&](Graph& graph) {
    for (int i = 0; i < kTasks; ++i) {
      const auto cell = static_cast<std::int32_t>(generator() % kCells);
      const auto by = static_cast<std::int32_t>(generator() % 100);
      expected[static_cast<std::size_t>(cell)] += by;
      const Tensor one = cells.slice(cell, cell + 1);
      graph.submit(kernel("count_up"), {{Access::inout, one}, number(by)});
    }
  });
  std::vector<std::int32_t> result(kCells);
  chip.copy_out<std::int32_t>(cells, result);
  EXPECT_EQ(result, expected);
}

TEST_F(CudaStream, TasksWithManyTensorsDependOnAllOfThem) {
  Chip chip({.platform = "cuda"});
  constexpr std::uint32_t kCells = 64;
  const Tensor cells = chip.alloc<std::uint32_t>({kCells}, "cells");
  std::vector<Tensor> one;
  for (std::int64_t i = 0; i < std::int64_t{kCells}; ++i) one.push_back(cells.slice(i, i + 1));
  std::mt19937 generator(5);
  std::vector<std::uint32_t> expected(kCells, 0);
  chip.run([&](Graph& graph) {
    for (int task = 0; task < 6'000; ++task) {
      const std::uint32_t to = generator() % kCells;
      std::vector<Argument> arguments;
      std::uint32_t sum = static_cast<std::uint32_t>(task % 7);
      for (int i = 0; i < 8; ++i) {
        const std::uint32_t cell = (to + 1 + generator() % (kCells - 1)) % kCells;
        sum += expected[cell];
        arguments.emplace_back(Access::in, one[cell]);
      }
      arguments.emplace_back(Access::inout, one[to]);
      arguments.push_back(number(task % 7));
      graph.submit_arguments(kernel("sum_of_nine"), arguments);
      expected[to] += sum;
    }
  });
  std::vector<std::uint32_t> result(kCells);
  chip.copy_out<std::uint32_t>(cells, result);
  EXPECT_EQ(result, expected);
}

/// Pauses are about as long as cores stay: some runs find them, some have to start them, some come when they leave.
TEST_F(CudaStream, CoresThatLeaveAreStartedAgain) {
  Chip chip({.platform = "cuda"});
  const Tensor counter = chip.alloc<std::int32_t>({1}, "counter");
  const std::uint32_t blocks = static_cast<std::uint32_t>(chip.vector_cores());
  const Tensor arrived = chip.alloc<std::int32_t>({1}, "arrived");
  baton::CapturedGraph captured = chip.capture([&](Graph& graph) {
    for (int i = 0; i < 5; ++i) graph.submit(kernel("count_up"), {{Access::inout, counter}, number(1)});
  });
  std::mt19937 generator(3);
  const auto stay = std::chrono::duration_cast<std::chrono::microseconds>(baton::options().gpu_stay).count();
  std::int32_t expected = 0;
  for (int round = 0; round < 1'000; ++round) {
    const auto until = std::chrono::steady_clock::now() +
                       std::chrono::microseconds(round % 3 == 0 ? 0 : stay - 20 + static_cast<int>(generator() % 60));
    while (std::chrono::steady_clock::now() < until) {
    }
    if (round % 2 == 0) {
      chip.run(captured);
      expected += 5;
    } else {
      chip.run([&](Graph& graph) {
        // Waits for itself on all cores.
        if (round % 5 == 0) {
          graph.set<std::int32_t>(arrived, {0}, 0);
          graph.submit(kernel("meet"), {{Access::inout, arrived}}, {.blocks = blocks, .start_together = true});
        }
        for (int i = 0; i < 3; ++i) graph.submit(kernel("count_up"), {{Access::inout, counter}, number(1)});
      });
      expected += 3;
    }
  }
  EXPECT_EQ(value_of(chip, counter), expected);
}

TEST_F(CudaStream, AFailureEndsWhatWaitsAndNamesIt) {
  Chip chip({.platform = "cuda"});
  const Tensor a = chip.alloc<float>({4096}, "a");
  const Tensor counter = chip.alloc<std::int32_t>({1}, "counter");
  for (int round = 0; round < 3; ++round) {
    try {
      chip.run([&](Graph& graph) {
        for (int i = 0; i < 1000; ++i) graph.submit(kernel("count_up"), {{Access::inout, counter}, number(1)});
        const baton::TaskId failing = graph.submit(kernel("too_much"), {{Access::in, a}});
        for (int i = 0; i < 10'000; ++i) {
          graph.submit(kernel("count_up"), {{Access::inout, counter}, number(1)}, {.after = {failing}});
        }
      });
      FAIL() << "nothing was thrown";
    } catch (const baton::Error& error) {
      EXPECT_EQ(error.code(), baton::Code::out_of_range) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("kernel 'too_much' on core"));
      EXPECT_THAT(error.what(), HasSubstr("did not run: count_up"));
    }
    chip.copy_in<std::int32_t>(counter, std::vector<std::int32_t>{7});
    chip.run([&](Graph& graph) { graph.submit(kernel("count_up"), {{Access::inout, counter}, number(1)}); });
    EXPECT_EQ(value_of(chip, counter), 8);
  }
}

TEST_F(CudaStream, MemoryThatComesDuringARunIsKnownToLaterTasks) {
  Chip chip({.platform = "cuda"});
  const Tensor first = chip.alloc<std::int32_t>({1}, "first");
  chip.run([&](Graph& graph) {
    graph.submit(kernel("count_up"), {{Access::inout, first}, number(1)});
    const Tensor second = chip.alloc<std::int32_t>({1}, "second");
    graph.submit(kernel("count_up"), {{Access::inout, second}, number(2)});
    EXPECT_EQ(graph.get<std::int32_t>(second, {0}), 2);
  });
  EXPECT_EQ(value_of(chip, first), 1);
}

}  // namespace
