// The stand-in itself: what breaks a rule is refused.
#include <cstdint>
#include <thread>

#include "ascend_fixture.hpp"

extern "C" {
int aclInit(const char*);
int aclFinalize();
int aclrtSetDevice(std::int32_t);
int aclrtResetDevice(std::int32_t);
int aclrtGetDevice(std::int32_t*);
int aclrtCreateStream(void**);
int aclrtDestroyStream(void*);
int aclrtSynchronizeStreamWithTimeout(void*, std::int32_t);
int aclrtSetStreamFailureMode(void*, std::uint64_t);
int aclrtCreateEventExWithFlag(void**, std::uint32_t);
int aclrtStreamWaitEvent(void*, void*);
int aclrtDestroyEvent(void*);
int aclrtMalloc(void**, std::size_t, std::int32_t);
int aclrtFree(void*);
int aclrtMemcpy(void*, std::size_t, const void*, std::size_t, std::int32_t);
const char* aclGetRecentErrMsg();
}

namespace baton::test {
namespace {

/// With device 0; rules are broken on purpose.
class StandIn : public testing::Test {
 protected:
  void SetUp() override {
    standin::reset();
    ASSERT_EQ(aclInit(nullptr), 0);
    ASSERT_EQ(aclrtSetDevice(0), 0);
  }
  void TearDown() override { standin::reset(); }
};

TEST_F(StandIn, WantsInitFirstAndOnce) {
  EXPECT_EQ(aclInit(nullptr), 100002);
  EXPECT_EQ(aclrtResetDevice(0), 0);
  EXPECT_EQ(aclrtResetDevice(0), 107001);
  EXPECT_EQ(aclFinalize(), 0);
  EXPECT_EQ(aclFinalize(), 100037);
  EXPECT_EQ(aclrtSetDevice(0), 100001);
}

TEST_F(StandIn, WantsADeviceOnEachThread) {
  int code = 0;
  std::thread([&] {
    std::int32_t device = 0;
    code = aclrtGetDevice(&device);
  }).join();
  EXPECT_EQ(code, 107002);
}

TEST_F(StandIn, KnowsDeadAndForeignHandles) {
  void* stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), 0);
  ASSERT_EQ(aclrtSetDevice(1), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 107003);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, -1), 107017);
}

TEST_F(StandIn, TellsOfWhatIsLeftBehindWhenTheDeviceGoes) {
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 10, 0), 0);
  EXPECT_THAT(standin::alive(), testing::Contains("10 bytes of device 0"));
  ASSERT_EQ(aclrtResetDevice(0), 0);
  EXPECT_THAT(standin::violations(), testing::Contains("memory was left behind on device 0"));
}

TEST_F(StandIn, ChecksMemory) {
  void* memory = nullptr;
  std::int64_t host = 0;
  EXPECT_EQ(aclrtMalloc(&memory, 0, 0), 100000);
  ASSERT_EQ(aclrtMalloc(&memory, 16, 0), 0);
  EXPECT_EQ(aclrtMemcpy(memory, 16, &host, 8, 1), 0);
  EXPECT_EQ(aclrtMemcpy(memory, 4, &host, 8, 1), 107000) << "no room";
  EXPECT_EQ(aclrtMemcpy(static_cast<char*>(memory) + 12, 8, &host, 8, 1), 107000) << "behind the end";
  EXPECT_EQ(aclrtMemcpy(&host, 8, memory, 8, 1), 107000) << "the wrong way";
  EXPECT_EQ(aclrtFree(static_cast<char*>(memory) + 8), 100000);
  EXPECT_EQ(aclrtFree(memory), 0);
  EXPECT_EQ(aclrtFree(memory), 100000);
  EXPECT_EQ(aclrtMemcpy(memory, 16, &host, 8, 1), 107000);
}

TEST_F(StandIn, ChecksStreamsAndEvents) {
  void* stream = nullptr;
  void* event = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), 0);
  EXPECT_EQ(aclrtSetStreamFailureMode(stream, 1), 0);
  EXPECT_EQ(aclrtSetStreamFailureMode(stream, 1), 107000) << "once for each stream";
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 0), 107000);
  ASSERT_EQ(aclrtCreateEventExWithFlag(&event, 1), 0);
  EXPECT_EQ(aclrtStreamWaitEvent(stream, event), 0) << "nobody recorded it: complete";
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 5000), 0);
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
  EXPECT_EQ(aclrtStreamWaitEvent(stream, event), 107017);
}

TEST_F(StandIn, KeepsATextForEachThreadUntilItIsRead) {
  EXPECT_EQ(aclrtSetDevice(99), 107001);
  std::thread([] { EXPECT_EQ(aclGetRecentErrMsg(), nullptr); }).join();
  EXPECT_STREQ(aclGetRecentErrMsg(), "aclrtSetDevice: there is no device 99");
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

}  // namespace
}  // namespace baton::test
