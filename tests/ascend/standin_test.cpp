// The stand-in itself: what breaks a rule is refused. Start and end, handles, memory, communicators.
#include <thread>
#include <utility>

#include "vendor_functions.hpp"

namespace baton::test {
namespace {

TEST_F(StandIn, WantsInitFirstAndOnce) {
  EXPECT_EQ(aclInit(nullptr), 100002);
  EXPECT_EQ(aclrtResetDevice(0), 0);
  EXPECT_EQ(aclrtResetDevice(0), 107001);
  EXPECT_EQ(aclFinalize(), 0);
  EXPECT_EQ(aclFinalize(), 100037);
  EXPECT_EQ(aclrtSetDevice(0), 100001);
}

TEST_F(StandIn, CountsWhoUsesADevice) {
  void* stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(aclrtResetDevice(0), 0);
  EXPECT_THAT(standin::alive(), testing::Contains("a stream"));
  EXPECT_EQ(aclrtResetDevice(0), 0);
  EXPECT_THAT(standin::alive(), testing::IsEmpty());
  EXPECT_EQ(aclrtResetDevice(0), 107001);
}

TEST_F(StandIn, TellsOfAnEndWithDevicesThatAreSet) {
  EXPECT_EQ(aclFinalize(), 0);
  EXPECT_TRUE(is_violated("aclFinalize while device 0 is set"));
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
  EXPECT_EQ(aclrtDestroyStream(nullptr), 100000) << "the default stream";
  void* next = nullptr;
  ASSERT_EQ(aclrtCreateStream(&next), 0);
  EXPECT_NE(next, stream);
  void* event = nullptr;
  ASSERT_EQ(aclrtCreateEventExWithFlag(&event, 1), 0);
  ASSERT_EQ(aclrtSetDevice(1), 0);
  EXPECT_EQ(aclrtDestroyEvent(event), 107003);
  void* of_device_1 = nullptr;
  ASSERT_EQ(aclrtCreateStream(&of_device_1), 0);
  EXPECT_EQ(aclrtRecordEvent(event, of_device_1), 107003);
  EXPECT_EQ(aclrtStreamWaitEvent(of_device_1, event), 107003);
}

TEST_F(StandIn, TellsOfWhatIsLeftBehindWhenTheDeviceGoes) {
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 10, 0), 0);
  EXPECT_THAT(standin::alive(), testing::Contains("10 bytes of device 0"));
  void* event = nullptr;
  void* stream = nullptr;
  void* place = nullptr;
  ASSERT_EQ(aclrtCreateEventExWithFlag(&event, 1), 0);
  ASSERT_EQ(aclrtCreateStream(&stream), 0);
  ASSERT_EQ(aclrtReserveMemAddress(&place, kUnit, 0, nullptr, 0), 0);
  ASSERT_EQ(aclrtResetDevice(0), 0);
  EXPECT_THAT(standin::violations(),
              testing::UnorderedElementsAre("memory was left behind on device 0", "an event was left behind",
                                            "reserved addresses was left behind"));
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

TEST_F(StandIn, ChecksPhysicalMemoryAndItsAddresses) {
  void* memory = nullptr;
  void* place = nullptr;
  EXPECT_EQ(aclrtMallocPhysical(&memory, kUnit + 1, kMemory, 0), 107000) << "no whole units";
  EXPECT_EQ(aclrtMallocPhysical(&memory, kUnit, kMemoryOfDevice1, 0), 107000) << "of another device";
  ASSERT_EQ(aclrtMallocPhysical(&memory, kUnit, kMemory, 0), 0);
  EXPECT_EQ(aclrtReserveMemAddress(&place, kUnit, 1, nullptr, 0), 107000) << "with an alignment";
  ASSERT_EQ(aclrtReserveMemAddress(&place, kUnit, 0, nullptr, 0), 0);
  EXPECT_EQ(aclrtMapMem(place, kUnit, 1, memory, 0), 107000) << "with an offset";
  EXPECT_EQ(aclrtMapMem(place, kUnit, 0, memory, 1), 107000) << "with flags";
  EXPECT_EQ(aclrtMapMem(place, 2 * kUnit, 0, memory, 0), 107000) << "of another size";
  EXPECT_EQ(aclrtMemSetAccess(place, kUnit, full_access, 1), 107000) << "not mapped";
  ASSERT_EQ(aclrtMapMem(place, kUnit, 0, memory, 0), 0);
  EXPECT_EQ(aclrtMapMem(place, kUnit, 0, memory, 0), 107000) << "twice";
  std::int64_t host = 5;
  EXPECT_EQ(aclrtMemcpy(place, 8, &host, 8, 1), 107000) << "nobody may touch it yet";
  ASSERT_EQ(aclrtMemSetAccess(place, kUnit, full_access, 1), 0);
  EXPECT_EQ(aclrtMemcpy(place, 8, &host, 8, 1), 0);
  EXPECT_EQ(aclrtFreePhysical(memory), 107000) << "before it is unmapped";
  EXPECT_EQ(aclrtReleaseMemAddress(place), 107000) << "likewise";
  EXPECT_EQ(aclrtFree(place), 100000) << "not of aclrtMalloc";
  EXPECT_EQ(aclrtUnmapMem(place), 0);
  EXPECT_EQ(aclrtUnmapMem(place), 107017);
  EXPECT_EQ(aclrtReleaseMemAddress(place), 107000) << "before what was mapped there is freed";
  EXPECT_EQ(aclrtFreePhysical(memory), 0);
  EXPECT_EQ(aclrtFreePhysical(memory), 107017);
  EXPECT_THAT(standin::alive(), testing::Contains("reserved addresses"));
  EXPECT_EQ(aclrtReleaseMemAddress(place), 0);
  EXPECT_THAT(standin::alive(), testing::Not(testing::Contains("reserved addresses")));
}

TEST_F(StandIn, ChecksHandlesForOthers) {
  void* memory = nullptr;
  void* imported = nullptr;
  std::uint64_t handle = 0;
  std::int32_t process = 1;
  ASSERT_EQ(aclrtMallocPhysical(&memory, kUnit, kMemory, 0), 0);
  EXPECT_EQ(aclrtMemExportToShareableHandle(memory, 0, 2, &handle), 107000) << "flags";
  ASSERT_EQ(aclrtMemExportToShareableHandle(memory, 0, 0, &handle), 0);
  EXPECT_EQ(aclrtMemExportToShareableHandle(memory, 0, 0, &handle), 107000) << "twice";
  EXPECT_EQ(aclrtMemSetPidToShareableHandle(handle, &process, 1), 0);
  EXPECT_EQ(aclrtMemSetPidToShareableHandle(handle + 1000, &process, 1), 107017) << "exported by nobody";
  EXPECT_EQ(aclrtMemImportFromShareableHandle(handle, 0, &imported), 107000) << "in the same process";
  EXPECT_EQ(aclrtFreePhysical(memory), 0);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(0, 0), 100000) << "of itself";
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), 100000) << "never enabled";
}

TEST_F(StandIn, ChecksCommunicators) {
  char root[4108];
  void* communicator = nullptr;
  ASSERT_EQ(HcclGetRootInfo(root), 0);
  EXPECT_EQ(HcclCommInitRootInfo(1, root, 1, &communicator), 1) << "no such rank";
  const char last = std::exchange(root[sizeof root - 1], 0);
  EXPECT_EQ(HcclCommInitRootInfo(1, root, 0, &communicator), 1) << "not all bytes";
  root[sizeof root - 1] = last;
  ASSERT_EQ(HcclCommInitRootInfo(1, root, 0, &communicator), 0);
  void* other = nullptr;
  // It has switched the context of this thread.
  EXPECT_EQ(aclrtMallocPhysical(&other, kUnit, kMemory, 0), 107002);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(HcclCommInitRootInfo(1, root, 0, &other), 9) << "the rank is taken";
  EXPECT_EQ(HcclCommInitRootInfo(2, root, 1, &other), 9) << "of another number of ranks";
  EXPECT_THAT(standin::alive(), testing::Contains("a communicator"));
  EXPECT_EQ(HcclCommDestroy(communicator), 0);
  EXPECT_EQ(HcclCommDestroy(communicator), 2);
}

TEST_F(StandIn, KeepsATextForEachThreadUntilItIsRead) {
  EXPECT_EQ(aclrtSetDevice(99), 107001);
  std::thread([] { EXPECT_EQ(aclGetRecentErrMsg(), nullptr); }).join();
  EXPECT_STREQ(aclGetRecentErrMsg(), "aclrtSetDevice: there is no device 99");
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

}  // namespace
}  // namespace baton::test
