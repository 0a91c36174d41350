// A Chip whose device is behind a library: tasks are collected, and run when somebody waits for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/domain.hpp>
#include <baton/error.hpp>
#include <baton/join.hpp>
#include <baton/kernel_source.hpp>

namespace {

using baton::Access;
using baton::Chip;
using baton::Graph;
using baton::Tensor;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kAppend = R"(
#include "tensor.h"
/// cell = cell * 10 + digit: the order of tasks shows in the result.
extern "C" void kernel_entry(int64_t* args) {
  const auto* tensor = reinterpret_cast<const Tensor*>(args[0]);
  auto* cell = reinterpret_cast<int32_t*>(tensor->buffer.addr) + tensor->start_offset;
  *cell = *cell * 10 + static_cast<int32_t>(args[1]);
}
)";

class LibraryChip : public testing::Test {
 protected:
  void submit(Graph& graph, const Tensor& into, std::int64_t digit, const baton::TaskOptions& options = {}) {
    graph.submit(append.get(), {{Access::inout, into}, digit}, options);
  }
  std::int32_t value(const Tensor& tensor) {
    std::int32_t out = 0;
    chip.copy_out<std::int32_t>(tensor, {&out, 1});
    return out;
  }

  baton::LoadedKernel append = baton::KernelFile::compile({.source = "append", .text = kAppend}).kernel();
  Chip chip{{.platform = PLATFORM_TEMPLATE}};
  Tensor cell = chip.alloc<std::int32_t>({1}, "cell");
};

TEST_F(LibraryChip, RunsWhatWasSubmittedInSeveralRuns) {
  for (int run = 0; run < 3; ++run) {
    chip.run([&](Graph& graph) {
      submit(graph, cell, 1);
      submit(graph, cell, 2);
    });
  }
  EXPECT_EQ(value(cell), 121212);
}

TEST_F(LibraryChip, RunsTasksWhenTheOrchestrationLooksAtWhatTheyWrite) {
  std::vector<std::int32_t> seen;
  chip.run([&](Graph& graph) {
    submit(graph, cell, 1);
    const baton::TaskId second = graph.submit(append.get(), {{Access::inout, cell}, std::int64_t{2}});
    EXPECT_EQ(value(cell), 0) << "nobody has waited yet";
    graph.wait(second);
    EXPECT_EQ(value(cell), 12);
    submit(graph, cell, 3, {.after = {second}});
    seen.push_back(graph.get<std::int32_t>(cell, {0}));
    graph.set<std::int32_t>(cell, {0}, 7);
    submit(graph, cell, 4);
    seen.push_back(graph.get<std::int32_t>(cell, {0}));
  });
  EXPECT_THAT(seen, ElementsAre(123, 74));
}

TEST_F(LibraryChip, RunsTasksWhenOutputsNeedTheMemoryOfThoseBefore) {
  Chip small({.platform = PLATFORM_TEMPLATE, .output_heap_bytes = 4096});
  const Tensor sum = small.alloc<std::int32_t>({1}, "sum");
  small.run([&](Graph& graph) {
    for (int i = 0; i < 64; ++i) {
      const auto scope = graph.scope();
      const Tensor scratch = graph.filled_output<std::int32_t>({256}, i);
      const Tensor first = scratch.slice(0, 1);
      submit(graph, first, 0);
      EXPECT_EQ(graph.get<std::int32_t>(scratch, {0}), i * 10);
    }
    submit(graph, sum, 5);
  });
  std::int32_t out = 0;
  small.copy_out<std::int32_t>(sum, {&out, 1});
  EXPECT_EQ(out, 5);
}

TEST_F(LibraryChip, RunsCapturedGraphsWithOtherBuffersAndScalars) {
  const Tensor other = chip.alloc<std::int32_t>({1}, "other");
  baton::TaskId first = 0;
  baton::CapturedGraph graph = chip.capture([&](Graph& g) {
    first = g.submit(append.get(), {{Access::inout, cell}, std::int64_t{1}});
    submit(g, cell, 2);
  });
  chip.run(graph);
  chip.run(graph, {{cell, other}});
  chip.run(graph);
  EXPECT_EQ(value(cell), 1212);
  EXPECT_EQ(value(other), 12);
}

TEST_F(LibraryChip, GoesOnAfterAnOrchestrationThatFailed) {
  EXPECT_THROW(chip.run([&](Graph& graph) {
    submit(graph, cell, 9);
    throw std::runtime_error("no more");
  }),
               std::runtime_error);
  EXPECT_EQ(value(cell), 0) << "what nobody waited for has not run";
  chip.run([&](Graph& graph) { submit(graph, cell, 3); });
  EXPECT_EQ(value(cell), 3);
}

TEST_F(LibraryChip, TellsWhatItsLibraryRefuses) {
  try {
    chip.run([&](Graph& graph) { submit(graph, cell, 1, {.blocks = 2}); });
    FAIL() << "nothing was thrown";
  } catch (const baton::Error& error) {
    EXPECT_EQ(error.code(), baton::Code::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("one block at a time"));
  }
}

TEST(LibraryOfAPlatform, SaysThatItCannotDivideItsCores) {
  try {
    const Chip chip({.platform = PLATFORM_TEMPLATE, .clusters = 2});
    FAIL() << "nothing was thrown";
  } catch (const baton::Error& error) {
    EXPECT_EQ(error.code(), baton::Code::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("baton_device_set_clusters"));
  }
}

TEST(LibraryOfAPlatform, IsNoRankAmongOthersYet) {
  const baton::Domain me = baton::join("inproc:library_chip", 0, 1);
  try {
    const Chip chip(me, {.platform = PLATFORM_TEMPLATE});
    FAIL() << "nothing was thrown";
  } catch (const baton::Error& error) {
    EXPECT_EQ(error.code(), baton::Code::unsupported);
  }
}

TEST(LibraryOfAPlatform, ThatIsMissingIsToldByTheChip) {
  try {
    const Chip chip({.platform = "nonesuch"});
    FAIL() << "nothing was thrown";
  } catch (const baton::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("nonesuch"));
  }
}

}  // namespace
