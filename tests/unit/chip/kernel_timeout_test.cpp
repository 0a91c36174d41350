// A kernel that does not end is an error that tells where it was, and the chip lives on.
#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chip/cores/sim/source_line.hpp"
#include "chip_fixture.hpp"
#include "comm/kernel_record.hpp"
#include "comm/wait_record.hpp"
#include "kernels.hpp"

namespace baton::chip {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// One thread, so that a kernel which keeps it keeps all cores.
struct KernelTimeout : testing::Test {
  std::pair<Code, std::string> run(KernelEntry entry, const char* name, std::int64_t argument) {
    KernelCall call;
    call.entry = entry;
    call.name = name;
    call.args[0] = argument;
    return failure_of(cores, cores.vector(0, 1), call);
  }
  void expect_usable() { EXPECT_EQ(run(deep_kernel, "deep", 10).first, Code::ok); }

  LonelyChip chip;
  alignas(64) std::int32_t word = 0;
  std::int64_t address = reinterpret_cast<std::int64_t>(&word);
  SimCores cores{profile_named("a2a3sim"),
                 {.clusters = 1, .threads = 1, .kernel_timeout = std::chrono::milliseconds(200)},
                 *chip.memory};
};

// The thread sanitizer delivers a signal when a thread next calls it, and this one calls nobody.
#if !defined(BATON_SANITIZE_THREAD)
TEST_F(KernelTimeout, EndsAKernelThatComputesForEver) {
  for (int round = 0; round < 3; ++round) {
    const auto [code, message] = run(spin_kernel, "spins", address);
    EXPECT_EQ(code, Code::kernel_timeout);
    EXPECT_THAT(message, AllOf(HasSubstr("kernel 'spins' on vector core 0.1"), HasSubstr("0.2 s")));
    if (source_line(reinterpret_cast<const void*>(&spin_kernel))) {
      EXPECT_THAT(message, HasSubstr("kernels.cpp:"));
    }
    expect_usable();
  }
}

/// Its code is nobody's but the C library's: it is interrupted there, after a while.
TEST_F(KernelTimeout, EndsAKernelThatWaitsInTheSystem) {
  const auto [code, message] = run(pause_kernel, "pauses", 0);
  EXPECT_EQ(code, Code::kernel_timeout);
  EXPECT_THAT(message, HasSubstr("kernel 'pauses' on vector core 0.1"));
  expect_usable();
}

/// A kernel that could not go on because another one kept the thread is not ended with it. What it waits for is there
/// by then, so that its own limit does not matter.
TEST_F(KernelTimeout, EndsTheOneThatKeepsTheThreadAndNotTheOneBehindIt) {
  chip.memory->add_buffer(&word, sizeof word, "word");
  KernelCall waits;
  waits.entry = poll_kernel;
  waits.name = "polls";
  waits.args[0] = address;
  cores.post(cores.vector(0, 0), waits);
  const auto [code, message] = run(set_and_spin_kernel, "spins", address);
  EXPECT_EQ(code, Code::kernel_timeout);
  EXPECT_THAT(message, HasSubstr("'spins'"));
  cores.wait(waits);
}
#endif

TEST_F(KernelTimeout, EndsAKernelThatAsksForEver) {
  chip.memory->add_buffer(&word, sizeof word, "word");
  for (int round = 0; round < 3; ++round) {
    const auto [code, message] = run(poll_kernel, "polls", address);
    EXPECT_EQ(code, Code::kernel_timeout);
    EXPECT_THAT(message, AllOf(HasSubstr("kernel 'polls' on vector core 0.1 has run for more than 0.2 s; it was "),
                               Not(HasSubstr("unknown place"))));
    expect_usable();
  }
}

/// The limit is of one kernel, not of all together.
TEST_F(KernelTimeout, BeginsWithEachKernel) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(600);
  while (std::chrono::steady_clock::now() < end) expect_usable();
}

/// Whatever the limit is.
TEST(LongKernel, IsShownToOthersWhileItComputes) {
  LonelyChip chip;
  alignas(64) std::int32_t word = 0;
  SimCores cores{profile_named("a2a3sim"),
                 {.clusters = 1, .threads = 1, .kernel_timeout = std::chrono::nanoseconds(0)},
                 *chip.memory};
  KernelCall call;
  call.entry = ask_time_kernel;
  call.name = "asks";
  call.task = 7;
  call.args[0] = reinterpret_cast<std::int64_t>(&word);
  cores.post(cores.vector(0, 1), call);
  const auto shown = [&] { return comm::read_kernels(chip.world->block(0)); };
  while (shown().empty()) std::this_thread::yield();
  EXPECT_EQ(shown().front().what, "kernel 'asks' (task 7) on vector core 0.1");
  EXPECT_THAT(shown().front().where, AllOf(Not(testing::IsEmpty()), Not(HasSubstr("unknown place"))));
  EXPECT_GE(comm::monotonic_ns() - shown().front().since_ns, 1'000'000'000);
  std::atomic_ref(word).store(1);
  cores.wait(call);
  // Until the next kernel is looked at, or the core goes.
  while (!shown().empty()) std::this_thread::yield();
}

TEST(NoKernelTimeout, LetsAKernelRun) {
  LonelyChip chip;
  alignas(64) std::int32_t word = 0;
  SimCores cores{profile_named("a2a3sim"),
                 {.clusters = 1, .threads = 1, .kernel_timeout = std::chrono::nanoseconds(0)},
                 *chip.memory};
  KernelCall call;
  call.entry = spin_kernel;
  call.name = "spins";
  call.args[0] = reinterpret_cast<std::int64_t>(&word);
  cores.post(cores.vector(0, 1), call);
  const std::jthread later([&] { std::atomic_ref(word).store(1); });
  cores.wait(call);
}

}  // namespace
}  // namespace baton::chip
