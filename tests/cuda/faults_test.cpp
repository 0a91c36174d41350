// Kernels that fail, one after the other, on one chip: each is reported within a second, with its kernel and the line.
//
// Kernels are compiled for strict pipes, which find missing flags. As many as FAULTS says (10,000), or fit into 25
// seconds; those that cost a process its GPU are a few, in processes of their own.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/kernel_source.hpp>

#include "gpu_test.hpp"

namespace {

using baton::Access;
using baton::Chip;
using baton::Code;
using baton::Graph;
using baton::Tensor;
using baton::test::GpuTest;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

/// Before anybody asks for the options of this process.
const int kShortWaits = ::setenv("BATON_WAIT_TIMEOUT", "50ms", 1);
const int kStrictPipes = ::setenv("BATON_PIPES", "strict", 1);
constexpr std::chrono::seconds kLimit{1};
constexpr int kUsualFaults = 10'000;
constexpr std::chrono::seconds kEnough{25};

const baton::Kernel& kernel(const char* name) {
  static const baton::KernelFile file = baton::KernelFile::compile({.source = CUDA_TEST_KERNELS, .platform = "cuda"});
  static std::map<std::string, baton::LoadedKernel> loaded;
  return loaded.try_emplace(name, file.kernel(name)).first->second.get();
}

/// The lines of a kernel in its file, from BATON_KERNEL on, up to that of the next one.
struct Lines {
  int begin = 0;
  int end = 1 << 30;
};
Lines lines_of(const std::string& name) {
  std::ifstream file(CUDA_TEST_KERNELS);
  Lines lines;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (!line.starts_with("BATON_KERNEL(")) continue;
    if (lines.begin != 0) {
      lines.end = number;
      break;
    }
    if (line.starts_with("BATON_KERNEL(" + name + ",")) lines.begin = number;
  }
  return lines;
}

/// Of the file that the message names; 0: it does not.
int line_in(const std::string& message) {
  const std::string file = "kernels.cpp:";
  const std::size_t at = message.find(file);
  return at == std::string::npos ? 0 : std::atoi(message.c_str() + at + file.size());
}

struct Fault {
  const char* kernel;
  Code code;
  std::function<void(Graph&)> submit;
};

class CudaFaults : public GpuTest {};

/// What fault number `i` does to the chip. The time that it took to be reported.
std::chrono::duration<double> inject(Chip& chip, const Fault& fault, int number, bool captured) {
  const auto submit = [&](Graph& graph) { fault.submit(graph); };
  const auto start = Clock::now();
  try {
    if (captured) {
      baton::CapturedGraph graph = chip.capture(submit);
      chip.run(graph);
    } else {
      chip.run(submit);
    }
    ADD_FAILURE() << "fault " << number << " in " << fault.kernel << " was not reported";
  } catch (const baton::Error& error) {
    const Lines lines = lines_of(fault.kernel);
    const int line = line_in(error.what());
    EXPECT_EQ(error.code(), fault.code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("kernel '" + std::string(fault.kernel) + "'"));
    EXPECT_TRUE(line >= lines.begin && line < lines.end)
        << error.what() << "\nwants a line from " << lines.begin << " to " << lines.end;
  }
  return Clock::now() - start;
}

TEST_F(CudaFaults, EachIsReportedWithinASecondWithKernelAndLine) {
  const char* const wanted = std::getenv("FAULTS");
  const int count = wanted == nullptr ? kUsualFaults : std::atoi(wanted);
  Chip chip({.platform = "cuda"});
  const Tensor a = chip.alloc<float>({4096}, "a");
  const Tensor word = chip.alloc<std::int32_t>({1}, "word");
  const Tensor counter = chip.alloc<std::int32_t>({1}, "counter");
  const std::vector<Fault> faults = {
      // A tile that does not fit, memory of nobody, a missing flag, and a signal that is lost.
      {"too_much", Code::out_of_range,
       [&](Graph& graph) {
         graph.submit(kernel("too_much"), {{Access::in, a}});
       }},
      {"stray", Code::out_of_range,
       [&](Graph& graph) {
         graph.submit(kernel("stray"), {{Access::in, a}});
       }},
      {"forgetful", Code::pipe_order,
       [&](Graph& graph) {
         graph.submit(kernel("forgetful"), {{Access::in, a}});
       }},
      {"lonely", Code::wait_timeout,
       [&](Graph& graph) {
         graph.submit(kernel("lonely"), {{Access::inout, word}});
       }},
  };
  std::vector<std::chrono::duration<double>> took;
  int good_runs = 0;
  const auto begin = Clock::now();
  for (int i = 0; i < count && !HasFailure() && (wanted != nullptr || Clock::now() - begin < kEnough); ++i) {
    // Waits take their time until they end: seldom.
    const Fault& fault = i % 50 == 49 ? faults[3] : faults[static_cast<std::size_t>(i % 3)];
    took.push_back(inject(chip, fault, i, i % 3 == 2));
    EXPECT_LT(took.back(), kLimit) << "fault " << i << " in " << fault.kernel;
    if (i % 10 != 0) continue;
    // The chip goes on.
    chip.run([&](Graph& graph) { graph.submit(kernel("count_up"), {{Access::inout, counter}, std::int64_t{1}}); });
    ++good_runs;
  }
  std::vector<std::int32_t> result(1);
  chip.copy_out<std::int32_t>(counter, result);
  EXPECT_EQ(result[0], good_runs);
  ASSERT_FALSE(took.empty());
  std::ranges::sort(took);
  std::printf("%zu faults: median %.3f ms, longest %.1f ms\n", took.size(), took[took.size() / 2].count() * 1e3,
              took.back().count() * 1e3);
}

/// In a process of its own, which cannot use its GPU any more. Says what was thrown, and when.
int crash() {
  Chip chip({.platform = "cuda"});
  const Tensor word = chip.alloc<std::int32_t>({1}, "word");
  chip.run([&](Graph& graph) { graph.submit(kernel("count_up"), {{Access::inout, word}, std::int64_t{1}}); });
  constexpr std::int64_t kNoMemory = 64;
  const auto start = Clock::now();
  try {
    chip.run([&](Graph& graph) { graph.submit(kernel("wild_write"), {{Access::inout, word}, kNoMemory}); });
  } catch (const baton::Error& error) {
    const std::chrono::duration<double> took = Clock::now() - start;
    std::printf("after %.3f s: %s\n", took.count(), error.what());
    std::fflush(stdout);
    // Nothing that belongs to this GPU can be given back any more.
    ::_exit(took < kLimit && error.code() == Code::kernel_fault ? 0 : 1);
  }
  std::printf("nothing was thrown\n");
  return 1;
}

TEST_F(CudaFaults, AnIllegalAddressCostsItsProcessTheGpuAndNamesTheKernel) {
  constexpr int kProcesses = 3;
  char self[4096] = {};
  ASSERT_GT(::readlink("/proc/self/exe", self, sizeof self - 1), 0);
  for (int i = 0; i < kProcesses; ++i) {
    FILE* const child = ::popen(("CUDA_FAULTS_CRASH=1 '" + std::string(self) + "' 2>&1").c_str(), "r");
    ASSERT_NE(child, nullptr);
    std::string said;
    for (int c = 0; (c = std::fgetc(child)) != EOF;) said += static_cast<char>(c);
    const int status = ::pclose(child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << said;
    EXPECT_THAT(said, HasSubstr("brought the GPU down"));
    EXPECT_THAT(said, HasSubstr("wild_write"));
    if (i == 0) std::printf("%s", said.c_str());
  }
}

/// Instead of the tests, in a process that is to crash.
const int kCrash = [] {
  if (std::getenv("CUDA_FAULTS_CRASH") == nullptr) return 0;
  const int result = crash();
  std::fflush(stdout);
  ::_exit(result);
}();

}  // namespace
