// A Chip whose device takes tasks while the orchestration still submits.
#include <dlfcn.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/kernel_source.hpp>

#include "streaming_platform.hpp"

namespace {

using baton::Access;
using baton::Chip;
using baton::Graph;
using baton::Tensor;
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

class StreamingChip : public testing::Test {
 protected:
  baton::TaskId submit(Graph& graph, const Tensor& into, std::int64_t digit, const baton::TaskOptions& options = {}) {
    return graph.submit(append.get(), {{Access::inout, into}, digit}, options);
  }
  std::int32_t value(const Tensor& tensor) {
    std::int32_t out = 0;
    chip.copy_out<std::int32_t>(tensor, {&out, 1});
    return out;
  }
  template <class Result>
  [[nodiscard]] Result ask(const char* function) const {
    void* library = ::dlopen(PLATFORM_STREAMING, RTLD_NOW | RTLD_NOLOAD);
    return reinterpret_cast<Result (*)()>(::dlsym(library, function))();
  }
  /// What was asked for since the last call.
  [[nodiscard]] std::string asked() {
    const std::string all = ask<const char*>("streaming_asked");
    const std::string news = all.substr(asked_before_.size());
    asked_before_ = all;
    return news;
  }

  baton::LoadedKernel append = baton::KernelFile::compile({.source = "append", .text = kAppend}).kernel();
  Chip chip{{.platform = PLATFORM_STREAMING}};
  Tensor cell = chip.alloc<std::int32_t>({1}, "cell");
  Tensor other = chip.alloc<std::int32_t>({1}, "other");

 private:
  std::string asked_before_ = ask<const char*>("streaming_asked");
};

TEST_F(StreamingChip, RunsTasksWhileOthersAreSubmitted) {
  for (int run = 0; run < 2; ++run) {
    chip.run([&](Graph& graph) {
      submit(graph, cell, 1);
      EXPECT_EQ(value(cell), run == 0 ? 1 : 121);
      submit(graph, cell, 2);
    });
  }
  EXPECT_EQ(value(cell), 1212);
}

TEST_F(StreamingChip, TellsOfEdgesByTheNumbersOfTasksUntilSomebodyWaits) {
  chip.run([&](Graph& graph) {
    submit(graph, cell, 1);
    const baton::TaskId second = submit(graph, other, 1);
    submit(graph, cell, 2, {.after = {second}});
    EXPECT_EQ(graph.get<std::int32_t>(cell, {0}), 12);
    submit(graph, cell, 3, {.after = {second}});
    submit(graph, other, 4);
    submit(graph, cell, 5);
  });
  EXPECT_EQ(asked(), "0 after\n1 after\n2 after 0 1\n0 after\n1 after\n2 after 0\n");
}

TEST_F(StreamingChip, ThrowsWhatFailedAndWhatDidNotRunAndGoesOn) {
  for (int round = 0; round < 2; ++round) {
    try {
      chip.run([&](Graph& graph) {
        submit(graph, other, 1);
        submit(graph, cell, kFailLater);
        submit(graph, cell, 1);
      });
      FAIL() << "nothing was thrown";
    } catch (const baton::Error& error) {
      EXPECT_EQ(error.code(), baton::Code::kernel_fault);
      EXPECT_THAT(error.what(), HasSubstr("(task 2, submitted at"));
      EXPECT_THAT(error.what(), HasSubstr("1 task did not run"));
    }
  }
  chip.run([&](Graph& graph) { submit(graph, cell, 3); });
  EXPECT_EQ(value(cell), 3);
}

TEST_F(StreamingChip, EndsWhatRunsWhenTheOrchestrationFails) {
  EXPECT_THROW(chip.run([&](Graph& graph) {
    submit(graph, cell, 9);
    throw std::runtime_error("no more");
  }),
               std::runtime_error);
  EXPECT_EQ(value(cell), 9);
  // What happened on the chip comes first.
  EXPECT_THROW(chip.run([&](Graph& graph) {
    submit(graph, cell, kFailLater);
    throw std::runtime_error("no more");
  }),
               baton::Error);
  chip.run([&](Graph& graph) { submit(graph, cell, 3); });
  EXPECT_EQ(value(cell), 93);
}

TEST_F(StreamingChip, TellsWhatItsLibraryRefusesWhenItIsSubmitted) {
  try {
    chip.run([&](Graph& graph) {
      submit(graph, cell, 1);
      submit(graph, cell, 2, {.blocks = 2});
      ADD_FAILURE() << "nothing was thrown";
    });
    FAIL() << "nothing was thrown";
  } catch (const baton::Error& error) {
    EXPECT_EQ(error.code(), baton::Code::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("one block at a time"));
  }
  chip.run([&](Graph& graph) { submit(graph, cell, 3); });
  EXPECT_EQ(value(cell), 13);
}

TEST_F(StreamingChip, TellsOfMemoryThatComesDuringARun) {
  chip.run([&](Graph& graph) {
    submit(graph, cell, 1);
    const auto begun = ask<std::size_t>("streaming_begun");
    submit(graph, cell, 2);
    EXPECT_EQ(ask<std::size_t>("streaming_begun"), begun);
    const Tensor late = chip.alloc<std::int32_t>({1}, "late");
    submit(graph, late, 2);
    EXPECT_EQ(ask<std::size_t>("streaming_begun"), begun + 1);
  });
}

/// Records of a chip with this platform, sorted by task, which says when each block ran.
class ProfiledStream : public StreamingChip {
 protected:
  Chip profiled{{.platform = PLATFORM_STREAMING, .profile = baton::ProfileMode::records}};
  Tensor mine = profiled.alloc<std::int32_t>({1}, "mine");

  [[nodiscard]] std::vector<baton::TaskRecord> records() const {
    std::vector<baton::TaskRecord> found = profiled.task_profile().records;
    std::ranges::sort(found, {}, &baton::TaskRecord::task);
    return found;
  }
};

TEST_F(ProfiledStream, HasTheTimesThatItsDeviceTellsOfBlocks) {
  profiled.run([&](Graph& graph) {
    submit(graph, mine, 1);
    submit(graph, mine, 2);
  });
  const std::vector<baton::TaskRecord> found = records();
  ASSERT_EQ(found.size(), 2U);
  for (const baton::TaskRecord& one : found) {
    EXPECT_EQ(one.outcome, baton::TaskOutcome::done);
    EXPECT_EQ(one.core, static_cast<std::int16_t>(kFirstCore));  // that of the block that began first
    EXPECT_GT(one.submitted, 0);
    EXPECT_LE(one.submitted, one.started);
    EXPECT_LT(one.started, one.returned);
    EXPECT_EQ(one.returned, one.completed);
  }
  EXPECT_LE(found[0].returned, found[1].started);
  EXPECT_EQ(found[1].ready, std::max(found[1].submitted, found[0].completed));
  std::vector<std::string> cores;
  for (const baton::CoreProfile& core : profiled.task_profile().cores) {
    cores.push_back(core.core);
    EXPECT_EQ(core.kernels, 2U);
  }
  EXPECT_THAT(cores, testing::ElementsAre("core 2", "core 4"));
}

TEST_F(ProfiledStream, HasThoseOfCapturedGraphsAndOfSeveralBatches) {
  baton::CapturedGraph captured = profiled.capture([&](Graph& graph) {
    submit(graph, mine, 1);
    submit(graph, mine, 2);
  });
  for (int run = 0; run < 2; ++run) profiled.run(captured);
  EXPECT_EQ(records().size(), 4U);
  profiled.run([&](Graph& graph) {
    submit(graph, mine, 3);
    EXPECT_EQ(graph.get<std::int32_t>(mine, {0}) % 10, 3);
    submit(graph, mine, 4);
  });
  EXPECT_EQ(records().size(), 6U);
}

TEST_F(ProfiledStream, TellsWhatFailedAndWhatDidNotRun) {
  EXPECT_THROW(profiled.run([&](Graph& graph) {
    submit(graph, mine, 1);
    submit(graph, mine, kFailLater);
    submit(graph, mine, 1);
  }),
               baton::Error);
  const std::vector<baton::TaskRecord> found = records();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].outcome, baton::TaskOutcome::done);
  EXPECT_EQ(found[1].outcome, baton::TaskOutcome::failed);
  EXPECT_EQ(found[2].outcome, baton::TaskOutcome::not_run);
  EXPECT_EQ(found[2].started, 0);
}

}  // namespace
