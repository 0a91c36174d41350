// Nodes whose chips are parts of one GPU: they talk through windows in its memory.
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/graph_collectives.hpp>
#include <baton/join.hpp>
#include <baton/kernel_source.hpp>
#include <baton/node_collectives.hpp>
#include <baton/worker.hpp>
#include <collectives/signal_layout.hpp>

#include "gpu_test.hpp"

namespace {

using baton::Callable;
using baton::DomainHandle;
using baton::Orchestration;
using baton::TaskArgs;
using baton::Tensor;
using baton::TensorArgType;
using baton::test::GpuTest;
using baton::test::missing_gpu;
using testing::Each;
using testing::HasSubstr;

/// Before anybody asks for the options of this process.
const int kShortWaits = ::setenv("BATON_WAIT_TIMEOUT", "3s", 1);

Callable kernel(const char* source, const char* name, const std::string& platform) {
  const baton::KernelFile file = baton::KernelFile::compile({.source = source, .platform = platform});
  return Callable::in_library(file.path(), name);
}
Callable talk(const char* name) { return kernel(CUDA_TALK_KERNELS, name, "cuda"); }

/// A node of `ranks` chips with one cluster each, all of them in one domain with a window and signals.
class Node {
 public:
  explicit Node(int ranks, const std::string& platform = "cuda", int clusters = 1)
      : worker_({.platform = platform, .devices = numbers(ranks), .clusters = clusters}), chips_(numbers(ranks)) {}

  using Submit = std::function<void(Orchestration&, const DomainHandle&)>;
  void run(std::size_t floats, std::size_t signals, const Submit& submit) {
    worker_.run([&](Orchestration& orch) {
      const std::vector<baton::CommBufferSpec> buffers = {{"window", baton::DType::float32, floats},
                                                          {"signals", baton::DType::int32, signals}};
      const DomainHandle domain = orch.allocate_domain("all", chips_, 0, buffers);
      submit(orch, domain);
    });
  }

  [[nodiscard]] baton::Worker& worker() { return worker_; }
  [[nodiscard]] const std::vector<int>& chips() const { return chips_; }

 private:
  static std::vector<int> numbers(int count) {
    std::vector<int> out(static_cast<std::size_t>(count));
    std::iota(out.begin(), out.end(), 0);
    return out;
  }
  baton::Worker worker_;
  std::vector<int> chips_;
};

TaskArgs window_args(const baton::DomainMember& member) {
  TaskArgs args;
  args.add_tensor(member.buffer("window").tensor, TensorArgType::no_dep)
      .add_tensor(member.buffer("signals").tensor, TensorArgType::no_dep)
      .add_scalar(member.device_ctx);
  return args;
}

class CudaNode : public GpuTest {};

/// As long as somebody has the GPU open, what was linked for it stays from one node to the next.
class OpenGpu : public testing::Environment {
 public:
  void SetUp() override {
    if (!missing_gpu()) chip_.emplace(baton::ChipOptions{.platform = "cuda"});
  }
  void TearDown() override { chip_.reset(); }

 private:
  std::optional<baton::Chip> chip_;
};
// Ends with gtest.
testing::Environment* const kOpenGpu = testing::AddGlobalTestEnvironment(new OpenGpu);

TEST_F(CudaNode, ALineOfFloatsGoesRoundManyTimes) {
  constexpr std::int32_t kLaps = 300;
  for (const int ranks : {2, 3, 8}) {
    for (const std::size_t floats : {1U, 63U, 1024U, 4096U}) {
      Node node(ranks);
      node.run(floats, 16, [&](Orchestration& orch, const DomainHandle& domain) {
        std::vector<TaskArgs> args;
        for (const int chip : node.chips()) args.push_back(window_args(domain[chip]).add_scalar(kLaps));
        orch.wait(orch.submit_next_level_group(talk("relay"), args, node.chips()));
        std::vector<float> result(floats);
        orch.copy_from(std::span(result), domain[0].buffer("window").tensor);
        EXPECT_THAT(result, Each(static_cast<float>(kLaps * ranks))) << ranks << " ranks, " << floats << " floats";
      });
    }
  }
}

std::vector<std::vector<float>> allreduce_on(const std::string& platform, int ranks, std::int64_t count,
                                             std::int32_t mode) {
  Node node(ranks, platform);
  std::vector<std::vector<float>> results;
  std::vector<Tensor> ys;
  std::vector<Tensor> xs;
  for (const int chip : node.chips()) {
    xs.push_back(node.worker().create_buffer(baton::DType::float32, {count}));
    ys.push_back(node.worker().create_buffer(baton::DType::float32, {count}));
    auto* values = reinterpret_cast<float*>(xs.back().address());
    for (std::int64_t i = 0; i < count; ++i) values[i] = 0.1F * static_cast<float>(i % 977) + static_cast<float>(chip);
  }
  const auto signals = static_cast<std::size_t>(baton::collectives::signals_needed(ranks));
  const Callable allreduce = kernel(CUDA_ALLREDUCE, "allreduce", platform);
  node.run(static_cast<std::size_t>(count), signals, [&](Orchestration& orch, const DomainHandle& domain) {
    for (int round = 0; round < 2; ++round) {
      std::vector<TaskArgs> args(node.chips().size());
      for (std::size_t i = 0; i < args.size(); ++i) {
        const baton::DomainMember& member = domain[node.chips()[i]];
        args[i]
            .add_tensor(round == 0 ? xs[i] : ys[i], TensorArgType::input)
            .add_tensor(round == 0 ? ys[i] : xs[i], TensorArgType::output)
            .add_tensor(member.buffer("window").tensor, TensorArgType::no_dep)
            .add_tensor(member.buffer("signals").tensor, TensorArgType::no_dep)
            .add_scalar(member.device_ctx)
            .add_scalar(mode);
      }
      orch.submit_next_level_group(allreduce, args, node.chips());
    }
  });
  for (const Tensor& x : xs) {
    const auto* values = reinterpret_cast<const float*>(x.address());
    results.emplace_back(values, values + count);
  }
  return results;
}

TEST_F(CudaNode, AllreduceOfFiveKindsGivesTheBitsOfTheSimulator) {
  constexpr std::int32_t kModes = 5;
  for (const int ranks : {2, 5}) {
    for (std::int32_t mode = 0; mode < kModes; ++mode) {
      for (const std::int64_t count : {1, 10'007}) {
        EXPECT_EQ(allreduce_on("cuda", ranks, count, mode), allreduce_on("a2a3sim", ranks, count, mode))
            << ranks << " ranks, mode " << mode << ", " << count << " floats";
      }
    }
  }
}

/// Block `chip` of tensor i begins with 100 i + 1000 chip.
TEST_F(CudaNode, CollectivesOfANodeInCppFollowEachOtherByTheirTensors) {
  constexpr int kChips = 3;
  constexpr std::int64_t kBlock = 4321;
  Node node(kChips);
  const auto tensors = [&](std::int64_t elements) {
    std::vector<Tensor> all;
    for (int chip = 0; chip < kChips; ++chip) {
      all.push_back(node.worker().create_buffer(baton::DType::float32, {elements}));
      auto* values = reinterpret_cast<float*>(all.back().address());
      for (std::int64_t i = 0; i < elements; ++i) values[i] = static_cast<float>(100 * chip + i % 97);
    }
    return all;
  };
  const auto value = [](const Tensor& tensor, std::int64_t i) {
    return reinterpret_cast<const float*>(tensor.address())[i];
  };
  const std::vector<Tensor> sums = tensors(kBlock);
  const std::vector<Tensor> few = tensors(10);
  const std::vector<Tensor> xs = tensors(kChips * kBlock);
  const std::vector<Tensor> turned = tensors(kChips * kBlock);
  const std::vector<Tensor> blocks = tensors(kBlock);
  const std::vector<Tensor> all = tensors(kChips * kBlock);
  baton::allreduce(node.worker(), sums);
  baton::allreduce(node.worker(), few, baton::ReduceOp::max);
  node.worker().run([&](Orchestration& orch) {
    baton::all_to_all(orch, xs, turned, node.chips());
    baton::reduce_scatter(orch, turned, blocks, node.chips());
    baton::allgather(orch, blocks, all, node.chips());
    baton::broadcast(orch, all, node.chips(), 1);
  });
  for (int chip = 0; chip < kChips; ++chip) {
    const auto at = static_cast<std::size_t>(chip);
    for (std::int64_t i = 0; i < kBlock; ++i) {
      ASSERT_EQ(value(sums[at], i), static_cast<float>(300 + 3 * (i % 97))) << chip << " " << i;
      for (int from = 0; from < kChips; ++from) {
        // Block `from` of a sum of blocks that came from all: what `from` had, all blocks of it, added up.
        float expected = 0;
        for (int block = 0; block < kChips; ++block) {
          expected += static_cast<float>(100 * from + (block * kBlock + i) % 97);
        }
        ASSERT_EQ(value(all[at], from * kBlock + i), expected) << chip << " " << from << " " << i;
      }
    }
    for (std::int64_t i = 0; i < 10; ++i) ASSERT_EQ(value(few[at], i), static_cast<float>(200 + i));
  }
}

/// Calls body(me, chip) on a thread for each rank: a thread that runs a graph of a GPU waits for it.
void on_parts(int ranks, const std::function<void(const baton::Domain&, baton::Chip&)>& body) {
  std::vector<std::thread> threads;
  std::vector<std::string> failures(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        const baton::Domain me = baton::join("inproc:parts", rank, ranks);
        baton::Chip chip(me, {.platform = "cuda", .device = rank, .device_count = ranks, .clusters = 1});
        body(me, chip);
      } catch (const std::exception& error) {
        failures[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(failures, Each(""));
}

TEST_F(CudaNode, CollectivesInGraphsAreTasksLikeOthers) {
  constexpr int kRanks = 4;
  constexpr std::int64_t kCount = 3000;
  std::vector<std::vector<float>> sums(kRanks);
  std::vector<std::vector<float>> came(kRanks);
  std::vector<std::vector<std::int32_t>> turned(kRanks);
  on_parts(kRanks, [&](const baton::Domain& me, baton::Chip& chip) {
    const auto at = static_cast<std::size_t>(me.rank());
    // Smaller than the data, which passes in pieces.
    const baton::CollectiveRoom room(chip, me, {.bytes = std::size_t{8} << 10U, .blocks = 2});
    const Tensor x = chip.alloc<float>({kCount}, "x");
    const Tensor y = chip.alloc<float>({kCount}, "y");
    const Tensor z = chip.alloc<float>({kCount}, "z");
    const Tensor parts = chip.alloc<std::int32_t>({kRanks}, "parts");
    const Tensor arrived = chip.alloc<std::int32_t>({kRanks}, "arrived");
    const Tensor ones = chip.alloc<std::int32_t>({kRanks}, "ones");
    std::vector<float> mine(kCount);
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = static_cast<float>(1000 * at + i % 101);
    std::vector<std::int32_t> numbers(kRanks);
    std::iota(numbers.begin(), numbers.end(), 10 * me.rank());
    chip.copy_in<float>(x, mine);
    chip.copy_in<std::int32_t>(parts, numbers);
    chip.copy_in<std::int32_t>(ones, std::vector<std::int32_t>(kRanks, 1));
    for (int run = 0; run < 2; ++run) {
      chip.run([&](baton::Graph& graph) {
        baton::allreduce(graph, room, x, y);
        baton::send_recv(graph, room, x, (me.rank() + 1) % kRanks, z, (me.rank() + kRanks - 1) % kRanks);
        const baton::TaskId met = baton::barrier(graph, room);
        baton::all_to_all_v(graph, room, parts, ones, arrived, ones, {.after = {met}});
      });
    }
    sums[at].resize(kCount);
    came[at].resize(kCount);
    turned[at].resize(kRanks);
    chip.copy_out<float>(y, sums[at]);
    chip.copy_out<float>(z, came[at]);
    chip.copy_out<std::int32_t>(arrived, turned[at]);
  });
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    ASSERT_EQ(sums[rank].size(), static_cast<std::size_t>(kCount));
    for (std::size_t i = 0; i < sums[rank].size(); ++i) {
      ASSERT_EQ(sums[rank][i], static_cast<float>(6000 + 4 * (i % 101))) << rank << " " << i;
      ASSERT_EQ(came[rank][i], static_cast<float>(1000 * ((rank + kRanks - 1) % kRanks) + i % 101)) << rank << " " << i;
    }
    for (std::size_t from = 0; from < kRanks; ++from) {
      EXPECT_EQ(turned[rank][from], static_cast<std::int32_t>(10 * from + rank));
    }
  }
}

std::string failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const baton::Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(CudaNode, AWaitThatNobodyEndsNamesItsSignalAndTheNodeGoesOn) {
  Node node(2);
  const std::string told = failure_of([&] {
    node.run(1, 16, [&](Orchestration& orch, const DomainHandle& domain) {
      TaskArgs args;
      args.add_tensor(domain[1].buffer("signals").tensor, TensorArgType::no_dep);
      orch.submit_next_level(talk("wait_in_vain"), args, 1);
    });
  });
  EXPECT_THAT(told, HasSubstr("kernel 'wait_in_vain'"));
  EXPECT_THAT(told, HasSubstr("all[1]+76"));  // 64 bytes for the float, then three signals
  EXPECT_THAT(told, HasSubstr("(has 0, needs 7)"));
  EXPECT_THAT(told, HasSubstr("talk_kernels.cpp:"));
  node.run(1, 16, [&](Orchestration& orch, const DomainHandle& domain) {
    std::vector<TaskArgs> args;
    for (const int chip : node.chips()) args.push_back(window_args(domain[chip]).add_scalar(std::int32_t{2}));
    orch.submit_next_level_group(talk("relay"), args, node.chips());
  });
}

TEST_F(CudaNode, AChipThatFailsEndsTheWaitsOfOthers) {
  Node node(3);
  const std::string told = failure_of([&] {
    node.run(1, 16, [&](Orchestration& orch, const DomainHandle& domain) {
      TaskArgs waits;
      waits.add_tensor(domain[0].buffer("signals").tensor, TensorArgType::no_dep);
      orch.submit_next_level(talk("wait_in_vain"), waits, 0);
      TaskArgs fails;
      fails.add_tensor(domain[1].buffer("signals").tensor, TensorArgType::no_dep).add_scalar(domain[1].device_ctx);
      orch.submit_next_level(talk("lose_its_way"), fails, 1);
    });
  });
  EXPECT_THAT(told, HasSubstr("kernel 'lose_its_way'"));
  EXPECT_THAT(told, HasSubstr("peer 3 is not in this domain of 3 ranks"));
  node.run(1, 16, [](Orchestration&, const DomainHandle&) {});
}

/// Kernels that are first used while others run: these wait for them.
TEST_F(CudaNode, CodeIsLoadedBeforeKernelsThatWaitForIt) {
  Node node(2);
  node.run(1, 16, [&](Orchestration& orch, const DomainHandle& domain) {
    TaskArgs waits = window_args(domain[0]).add_scalar(std::int32_t{1});
    // Rank 0 hands on and waits for what rank 1 sends with a kernel of its own.
    orch.submit_next_level(talk("relay"), waits, 0);
    TaskArgs calls;
    calls.add_tensor(domain[1].buffer("signals").tensor, TensorArgType::no_dep)
        .add_scalar(domain[1].device_ctx)
        .add_scalar(std::int32_t{0});
    orch.submit_next_level(talk("call_up"), calls, 1);
  });
}

TEST_F(CudaNode, DividesAGpuIntoEqualParts) {
  const int whole = baton::Chip({.platform = "cuda"}).clusters();
  for (const int parts : {1, 2, 4, 8}) {
    EXPECT_EQ(baton::Chip({.platform = "cuda", .device = parts - 1, .device_count = parts}).clusters(), whole / parts);
  }
  EXPECT_THAT(failure_of([] { baton::Chip({.platform = "cuda", .device = 999, .device_count = 1000}); }),
              HasSubstr("does not have a multiprocessor for each of"));
}

}  // namespace
