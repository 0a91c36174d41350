// A crash of a kernel is an error that tells where, and the chip lives on.
#include <csignal>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chip/cores/sim/code_name.hpp"
#include "chip/cores/sim/source_line.hpp"
#include "chip_fixture.hpp"
#include "kernels.hpp"

/// A kernel that terminates is left by a jump, and nobody knows any more that its exception could be freed.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:terminate_kernel\n"; }

namespace baton::chip {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Crashes {
  std::pair<Code, std::string> run(KernelEntry entry, const char* name, std::initializer_list<std::int64_t> args) {
    KernelCall call;
    call.entry = entry;
    call.name = name;
    std::copy(args.begin(), args.end(), call.args.begin());
    return failure_of(cores, cores.vector(0, 1), call);
  }
  LonelyChip chip;
  SimCores cores{profile_named("a2a3sim"), {.clusters = 1}, *chip.memory};
};

TEST(Crashes, AreErrorsAndTheChipLivesOn) {
  Crashes crashes;
  for (int round = 0; round < 3; ++round) {
    const auto [code, message] = crashes.run(wild_store_kernel, "wild", {16});
    EXPECT_EQ(code, Code::kernel_fault);
    EXPECT_THAT(message, AllOf(HasSubstr("kernel 'wild' on vector core 0.1"), HasSubstr("SIGSEGV"), HasSubstr("0x10")));
    EXPECT_EQ(crashes.run(deep_kernel, "deep", {10}).first, Code::ok);
    // A hundred megabytes of frames.
    EXPECT_EQ(crashes.run(deep_kernel, "deep", {100'000}).first, Code::kernel_fault);
  }
}

TEST(Crashes, TellTheLine) {
  // Whether this binary has line numbers, a place that does not crash says.
  const auto line = source_line(reinterpret_cast<const void*>(&wild_store_kernel));
  Crashes crashes;
  const std::string store = crashes.run(wild_store_kernel, "wild", {16}).second;
  const std::string copy = crashes.run(wild_copy_kernel, "copy", {16, 4096}).second;
  if (line) {
    EXPECT_THAT(*line, HasSubstr("kernels.cpp:"));
    EXPECT_THAT(store, HasSubstr("kernels.cpp:"));
#if !defined(BATON_SANITIZE_THREAD)  // which puts a function of its own between the kernel and memcpy
    EXPECT_THAT(copy, HasSubstr("kernels.cpp:"));
#endif
  } else {
    EXPECT_THAT(store, HasSubstr("addr2line -e "));
  }
}

TEST(Crashes, OfAssertionsAndTrapsTellTheLine) {
  Crashes crashes;
  const bool has_lines = source_line(reinterpret_cast<const void*>(&assert_kernel)).has_value();
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(crashes.run(assert_kernel, "fine", {1}).first, Code::ok);
    const auto [code, message] = crashes.run(assert_kernel, "asserts", {-1});
    EXPECT_EQ(code, Code::kernel_fault);
    EXPECT_THAT(message, AllOf(HasSubstr("kernel 'asserts' on vector core 0.1"), HasSubstr("an assertion failed")));
    EXPECT_THAT(message, HasSubstr(has_lines ? "kernels.cpp:" : "addr2line -e "));
    const auto [trap_code, trap] = crashes.run(trap_kernel, "traps", {});
    EXPECT_EQ(trap_code, Code::kernel_fault);
    EXPECT_THAT(trap, AllOf(HasSubstr("kernel 'traps' on vector core 0.1"), HasSubstr("trap")));
  }
}

/// Nothing of the exception is left: what is thrown and caught later is counted right.
TEST(Crashes, OfTheCppRuntimeAreErrorsToo) {
  Crashes crashes;
  for (int round = 0; round < 3; ++round) {
    const auto [code, message] = crashes.run(terminate_kernel, "terminates", {0});
    EXPECT_EQ(code, Code::kernel_fault);
    EXPECT_THAT(message, AllOf(HasSubstr("kernel 'terminates' on vector core 0.1"), HasSubstr("SIGABRT")));
    EXPECT_EQ(crashes.run(uncaught_kernel, "counts", {}).first, Code::ok);
  }
}

TEST(Crashes, ByAnExceptionOfAnyTypeAreErrors) {
  Crashes crashes;
  const char* const said[] = {"threw the int 5", "threw the string \"out of luck\"",
                              "threw an object of type throw_kernel::Stop", "threw std::out_of_range: no row 7"};
  for (std::int64_t what = 0; what < 4; ++what) {
    const auto [code, message] = crashes.run(throw_kernel, "throws", {what});
    EXPECT_EQ(code, Code::kernel_fault);
    EXPECT_THAT(message, AllOf(HasSubstr("kernel 'throws' on vector core 0.1"), HasSubstr(said[what])));
    if (source_line(reinterpret_cast<const void*>(&throw_kernel))) {
      EXPECT_THAT(message, HasSubstr("kernels.cpp:"));
    }
  }
  const auto [code, message] = crashes.run(throw_kernel, "throws", {4});
  EXPECT_EQ(code, Code::out_of_memory);
  EXPECT_THAT(message, AllOf(HasSubstr("kernel 'throws' on vector core 0.1"), HasSubstr("host memory")));
}

TEST(Crashes, NameKernelsAsTheirAuthorsDo) {
  EXPECT_EQ(name_of_code("_ZNK19baton_body_of_scale3runEf"), "scale");
  EXPECT_EQ(name_of_code("_ZNK4mine19baton_body_of_scale3runEf"), "scale");
  EXPECT_EQ(name_of_code("_ZZNK19baton_body_of_scale3runEfENKUliE_clEi"), "scale");  // a lambda in it
  EXPECT_EQ(name_of_code("baton_kernel_scale"), "scale");
  EXPECT_EQ(name_of_code("_ZN4mine6helperEi"), "mine::helper(int)");
  EXPECT_EQ(name_of_code("kernel_entry"), "kernel_entry");
  EXPECT_EQ(name_of_code("f"), "f");
  EXPECT_EQ(name_of_code("my_baton_kernel_scale"), "my_baton_kernel_scale");
  EXPECT_EQ(name_of_code(nullptr), "?");
}

/// A crash elsewhere reaches the handler that was there before: here, the default.
TEST(CrashesDeathTest, ElsewhereEndTheProcess) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        Crashes crashes;
        crashes.run(wild_store_kernel, "wild", {16});
        std::abort();
      },
      testing::KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace baton::chip
