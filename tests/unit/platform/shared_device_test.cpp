// Chips that are parts of a device.
#include <dlfcn.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/kernel_source.hpp>
#include <baton/worker.hpp>

#include "sharing_platform.hpp"

namespace {

using baton::Access;
using baton::Chip;
using baton::Graph;
using baton::Tensor;
using testing::HasSubstr;

constexpr const char* kNothing = R"(
#include "tensor.h"
extern "C" void kernel_entry(int64_t*) {}
)";

baton::KernelFile nothing() { return baton::KernelFile::compile({.source = "nothing", .text = kNothing}); }

template <class Result>
Result told(const char* function) {
  static void* const library = ::dlopen(PLATFORM_SHARING, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Result (*)()>(::dlsym(library, function))();
}

TEST(SharedDevice, IsToldOfHowManyDevicesAChipIsOne) {
  const Chip chip({.platform = PLATFORM_SHARING, .device = 2, .device_count = 4});
  EXPECT_EQ(told<int>("sharing_device_count"), 4);
  try {
    const Chip fifth({.platform = PLATFORM_SHARING, .device = 4, .device_count = 4});
    FAIL() << "there is no such part";
  } catch (const baton::Error& error) {
    EXPECT_EQ(error.code(), baton::Code::out_of_range) << error.what();
  }
}

TEST(SharedDevice, LearnsTheNamesOfAddresses) {
  const baton::LoadedKernel kernel = nothing().kernel();
  Chip chip({.platform = PLATFORM_SHARING});
  const Tensor cell = chip.alloc<std::int32_t>({4}, "cell");
  chip.run([&](Graph& graph) { graph.submit(kernel.get(), {{Access::out, cell}, std::int64_t{7}}); });
  EXPECT_STREQ(told<const char*>("sharing_named"), "cell+0");
}

TEST(SharedDevice, HasItsChipsInOneProcess) {
  baton::Worker node({.platform = PLATFORM_SHARING, .devices = {0, 2}});
  EXPECT_EQ(told<int>("sharing_device_count"), 3);
  EXPECT_EQ(node.pid_of(0), ::getpid());
  EXPECT_EQ(node.pid_of(1), ::getpid());
}

TEST(SharedDevice, IsToldWhenAPeerIsLost) {
  const baton::Callable kernel = baton::Callable::in_library(nothing().path(), "kernel_entry");
  baton::Worker node({.platform = PLATFORM_SHARING, .devices = {0, 1}});
  const auto submit = [&](baton::Orchestration& orch, int chip, std::int64_t asked) {
    orch.submit_next_level(kernel, baton::TaskArgs().add_scalar(asked), chip);
  };
  for (int round = 0; round < 2; ++round) {
    try {
      node.run([&](baton::Orchestration& orch) {
        submit(orch, 0, kWaitForLoss);
        submit(orch, 1, kFail);
      });
      FAIL() << "nothing was thrown";
    } catch (const baton::Error& error) {
      EXPECT_EQ(error.code(), baton::Code::kernel_fault) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("it was asked to fail"));
    }
    // Chips are made again: they can be used.
    node.run([&](baton::Orchestration& orch) { submit(orch, 0, 1); });
  }
  EXPECT_EQ(told<int>("sharing_gave_up"), 0);
}

}  // namespace
