// The functions of the vendor's libraries, as the stand-in has them, for tests that break its rules on purpose.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

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
int aclrtDeviceEnablePeerAccess(std::int32_t, std::uint32_t);
int aclrtDeviceDisablePeerAccess(std::int32_t);
int aclrtMallocPhysical(void**, std::size_t, const void*, std::uint64_t);
int aclrtFreePhysical(void*);
int aclrtReserveMemAddress(void**, std::size_t, std::size_t, void*, std::uint64_t);
int aclrtReleaseMemAddress(void*);
int aclrtMapMem(void*, std::size_t, std::size_t, void*, std::uint64_t);
int aclrtUnmapMem(void*);
int aclrtMemSetAccess(void*, std::size_t, void*, std::size_t);
int aclrtMemExportToShareableHandle(void*, std::int32_t, std::uint64_t, std::uint64_t*);
int aclrtMemSetPidToShareableHandle(std::uint64_t, std::int32_t*, std::size_t);
int aclrtMemImportFromShareableHandle(std::uint64_t, std::int32_t, void**);
const char* aclGetRecentErrMsg();
int HcclGetRootInfo(void*);
int HcclCommInitRootInfo(std::uint32_t, const void*, std::uint32_t, void**);
int HcclCommDestroy(void*);
int aclrtResetDeviceForce(std::int32_t);
int aclrtSetOpExecuteTimeOutV2(std::uint64_t, std::uint64_t*);
int aclrtRecordEvent(void*, void*);
int aclrtMemExportToShareableHandleV2(void*, std::uint64_t, std::int32_t, void*);
int aclrtMemImportFromShareableHandleV2(void*, std::int32_t, std::uint64_t, void**);
int aclrtBinaryLoadFromData(const void*, std::size_t, const void*, void**);
int aclrtBinaryGetFunction(void*, const char*, void**);
int aclrtBinaryUnLoad(void*);
int aclrtLaunchKernelWithHostArgs(void*, std::uint32_t, void*, void*, void*, std::size_t, void*, std::size_t);
}

namespace baton::test {

/// With device 0; rules are broken on purpose.
class StandIn : public testing::Test {
 protected:
  void SetUp() override {
    standin::reset();
    ASSERT_EQ(aclInit(nullptr), 0);
    ASSERT_EQ(aclrtSetDevice(0), 0);
  }
  void TearDown() override { standin::reset(); }

  static bool is_violated(const std::string& rule) {
    const std::vector<std::string> all = standin::violations();
    return std::ranges::any_of(all, [&](const std::string& one) { return one.find(rule) != std::string::npos; });
  }
};

inline constexpr std::size_t kUnit = std::size_t{2} << 20U;
/// aclrtPhysicalMemProp and aclrtMemAccessDesc, of device 0.
inline constexpr std::uint32_t kMemory[8] = {0, 0, 5, 0, 1, 0, 0, 0};
/// The same of device 1.
inline constexpr std::uint32_t kMemoryOfDevice1[8] = {0, 0, 5, 1, 1, 0, 0, 0};
inline std::uint32_t full_access[6] = {3, 0, 1, 0, 0, 0};

}  // namespace baton::test
