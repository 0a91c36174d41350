// The stand-in itself: what is queued runs later, and so do its errors.
#include <dlfcn.h>

#include <cstring>
#include <thread>
#include <utility>

#include <chip_tensor.h>

#include "vendor_functions.hpp"

namespace baton::test {
namespace {

constexpr int kVectorException = 507035;
constexpr int kCubeException = 507015;
constexpr int kDriver = 507899;

/// A kernel `cell = cell * 10 + digit`, a stream, and arguments in memory of device 0.
class StandInQueue : public StandIn {
 protected:
  void SetUp() override {
    StandIn::SetUp();
    library_ = ::dlopen(ascend_library("a2a3", BATON_CORE_VECTOR).c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr);
    load();
    ASSERT_EQ(aclrtCreateStream(&stream_), 0);
    ASSERT_EQ(aclrtMalloc(&cell_, sizeof(std::int64_t), 0), 0);
    ASSERT_EQ(aclrtMalloc(&memory_, sizeof(Arguments), 0), 0);
    set_cell(0);
    set_digit(1);
  }
  void TearDown() override {
    StandIn::TearDown();
    ::dlclose(library_);
  }

  void load() {
    const auto symbol = [&](const char* name) { return static_cast<const char*>(::dlsym(library_, name)); };
    const char* const begin = symbol("baton_a2a3_image");
    // aclrtBinaryLoadOptions with the magic of vector cores.
    std::uint32_t option[5] = {2, 0x41415246, 0, 0, 0};
    const struct {
      const void* options;
      std::size_t count;
    } options{option, 1};
    ASSERT_EQ(aclrtBinaryLoadFromData(begin, static_cast<std::size_t>(symbol("baton_a2a3_image_end") - begin), &options,
                                      &binary_),
              0);
    ASSERT_EQ(aclrtBinaryGetFunction(binary_, "baton_launch_append", &function_), 0);
  }
  void set_cell(std::int64_t value) const { ASSERT_EQ(aclrtMemcpy(cell_, sizeof value, &value, sizeof value, 1), 0); }
  void set_digit(std::int64_t digit) const {
    Arguments arguments{};
    arguments.tensor.buffer = {reinterpret_cast<std::uint64_t>(cell_), sizeof digit};
    arguments.slots[0] =
        reinterpret_cast<std::int64_t>(memory_) + static_cast<std::int64_t>(offsetof(Arguments, tensor));
    arguments.slots[1] = digit;
    ASSERT_EQ(aclrtMemcpy(memory_, sizeof arguments, &arguments, sizeof arguments, 1), 0);
  }
  [[nodiscard]] std::int64_t cell() const {
    std::int64_t value = -1;
    EXPECT_EQ(aclrtMemcpy(&value, sizeof value, cell_, sizeof value, 2), 0);
    return value;
  }
  int launch(std::uint32_t blocks = 1) { return launch_with(memory_, blocks); }
  int launch_with(void* argument, std::uint32_t blocks = 1) {
    return aclrtLaunchKernelWithHostArgs(function_, blocks, stream_, nullptr, &argument, sizeof argument, nullptr, 0);
  }
  [[nodiscard]] int synchronize(std::int32_t limit_ms = -1) const {
    return aclrtSynchronizeStreamWithTimeout(stream_, limit_ms);
  }

  struct Arguments {
    std::int64_t slots[64];
    ChipTensor tensor;
  };
  void* library_ = nullptr;
  void* binary_ = nullptr;
  void* function_ = nullptr;
  void* stream_ = nullptr;
  void* cell_ = nullptr;
  void* memory_ = nullptr;
};

TEST_F(StandInQueue, ReadsArgumentsOfTheHostAtTheCallAndThoseOfTheDeviceWhenItRuns) {
  standin::hold_kernel(1);
  void* argument = memory_;
  ASSERT_EQ(aclrtLaunchKernelWithHostArgs(function_, 1, stream_, nullptr, &argument, sizeof argument, nullptr, 0), 0);
  argument = nullptr;
  set_digit(7);
  standin::release_kernels();
  EXPECT_EQ(synchronize(), 0);
  EXPECT_EQ(cell(), 7);
}

TEST_F(StandInQueue, RefusesArgumentsThatAreNotOnTheDevice) {
  EXPECT_EQ(launch(0), 107000) << "no blocks";
  EXPECT_EQ(launch(65536), 107000);
  EXPECT_EQ(launch_with(this), 107000) << "memory of the host";
  ASSERT_EQ(aclrtSetDevice(1), 0);
  void* elsewhere = nullptr;
  ASSERT_EQ(aclrtMalloc(&elsewhere, 512, 0), 0);
  EXPECT_EQ(launch(), 107003) << "a function of another context";
  EXPECT_EQ(aclrtBinaryUnLoad(binary_), 107003);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(launch_with(elsewhere), 107000) << "memory of another device";
}

TEST_F(StandInQueue, FreesAndUnloadsNothingThatIsInUse) {
  standin::hold_kernel(1);
  ASSERT_EQ(launch(), 0);
  EXPECT_EQ(aclrtFree(cell_), 107000);
  EXPECT_EQ(aclrtBinaryUnLoad(binary_), 107000);
  standin::release_kernels();
  EXPECT_EQ(synchronize(), 0);
  EXPECT_EQ(aclrtBinaryUnLoad(binary_), 0);
  EXPECT_EQ(launch(), 107017) << "it ended with its binary";
  EXPECT_EQ(aclrtBinaryGetFunction(binary_, "baton_launch_append", &function_), 107017);
}

TEST_F(StandInQueue, GivesFunctionsToThreadsWithADevice) {
  int code = 0;
  std::thread([&] { code = aclrtBinaryGetFunction(binary_, "baton_launch_append", &function_); }).join();
  EXPECT_EQ(code, 107002);
  EXPECT_EQ(aclrtBinaryGetFunction(binary_, "no_such_kernel", &function_), 507000);
}

TEST_F(StandInQueue, EndsAStreamWhenItHasEnded) {
  standin::hold_kernel(1);
  ASSERT_EQ(launch(), 0);
  ASSERT_EQ(launch(), 0);
  std::thread releasing([] { standin::release_kernels(); });
  EXPECT_EQ(aclrtDestroyStream(stream_), 0);
  releasing.join();
  EXPECT_EQ(cell(), 11);
}

TEST_F(StandInQueue, EndsNoStreamThatAThreadWaitsFor) {
  standin::hold_kernel(1);
  ASSERT_EQ(launch(), 0);
  int code = -1;
  std::thread waiting([&] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    code = synchronize();
  });
  while (standin::waiting_threads() == 0) std::this_thread::yield();
  EXPECT_EQ(aclrtDestroyStream(stream_), 107000);
  standin::release_kernels();
  waiting.join();
  EXPECT_EQ(code, 0);
  EXPECT_EQ(aclrtDestroyStream(stream_), 0);
}

TEST_F(StandInQueue, TellsOfAFailureWhenSomebodyWaits) {
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, 1), 0);
  standin::hold_kernel(1);
  standin::fail_kernel(1, kVectorException);
  ASSERT_EQ(launch(), 0);
  ASSERT_EQ(launch(), 0);
  standin::release_kernels();
  EXPECT_EQ(synchronize(), kVectorException);
  EXPECT_EQ(cell(), 0) << "what follows does not run";
  EXPECT_EQ(launch(), 107023);
}

TEST_F(StandInQueue, GoesOnAfterAFailureByDefaultAndTellsTheLastOne) {
  standin::fail_kernel(1, kVectorException);
  standin::fail_kernel(3, kCubeException);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(launch(), 0);
  EXPECT_EQ(synchronize(), kCubeException);
  EXPECT_EQ(cell(), 11);
}

TEST_F(StandInQueue, EndsNothingWhenAWaitIsTooLong) {
  standin::hold_kernel(1);
  ASSERT_EQ(launch(), 0);
  EXPECT_EQ(synchronize(1), 507046);
  standin::release_kernels();
  EXPECT_EQ(synchronize(), 0);
  EXPECT_EQ(cell(), 1);
}

TEST_F(StandInQueue, KeepsAFaultOfTheDeviceUntilItIsForced) {
  standin::fail_kernel(1, kDriver);
  ASSERT_EQ(launch(), 0);
  EXPECT_EQ(synchronize(), kDriver);
  void* memory = nullptr;
  EXPECT_EQ(aclrtMalloc(&memory, 8, 0), kDriver);
  ASSERT_EQ(aclrtResetDevice(0), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(aclrtMalloc(&memory, 8, 0), kDriver);
  ASSERT_EQ(aclrtResetDeviceForce(0), 0);
  EXPECT_EQ(aclrtResetDevice(0), 107001) << "forced whatever the count";
  ASSERT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(aclrtMalloc(&memory, 8, 0), 0);
}

TEST_F(StandInQueue, RoundsTheLimitOfOperationsUp) {
  std::uint64_t actual = 0;
  EXPECT_EQ(aclrtSetOpExecuteTimeOutV2(1, &actual), 0);
  EXPECT_EQ(actual, 1000U);
  EXPECT_EQ(aclrtSetOpExecuteTimeOutV2(0, &actual), 0);
  EXPECT_EQ(actual, UINT64_MAX);
}

}  // namespace
}  // namespace baton::test
