// The stand-in itself: memory that two processes share.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vendor_functions.hpp"

namespace baton::test {
namespace {

struct Handles {
  std::uint64_t listed;    // for the other process
  std::uint64_t unlisted;  // for somebody else
};

/// This process has device 0. Another one has device 1, and memory of it.
class StandInSharing : public StandIn {
 protected:
  void SetUp() override {
    StandIn::SetUp();
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const std::int32_t importer = ::getpid();
    child_ = ::fork();
    if (child_ == 0) {
      ::close(ends[0]);
      ::_exit(export_memory(ends[1], importer));
    }
    ::close(ends[1]);
    link_ = ends[0];
    ASSERT_EQ(::recv(link_, &handles_, sizeof handles_, MSG_WAITALL), static_cast<ssize_t>(sizeof handles_));
  }
  void TearDown() override {
    ::close(link_);
    int status = 0;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    EXPECT_EQ(status, 0);
    StandIn::TearDown();
  }
  /// The other process frees what it has exported. Whether it has broken a rule by that.
  [[nodiscard]] bool is_freed_too_early() const {
    char answer = 0;
    EXPECT_EQ(::send(link_, &answer, 1, MSG_NOSIGNAL), 1);
    EXPECT_EQ(::recv(link_, &answer, 1, 0), 1);
    return answer != 0;
  }

  Handles handles_{};

 private:
  static int export_memory(int link, std::int32_t importer) {
    standin::reset();
    void* memory[2] = {};
    Handles handles{};
    std::int32_t stranger = 1;
    if (aclInit(nullptr) != 0 || aclrtSetDevice(1) != 0 ||
        aclrtMallocPhysical(&memory[0], kUnit, kMemoryOfDevice1, 0) != 0 ||
        aclrtMallocPhysical(&memory[1], kUnit, kMemoryOfDevice1, 0) != 0 ||
        aclrtMemExportToShareableHandle(memory[0], 0, 0, &handles.listed) != 0 ||
        aclrtMemExportToShareableHandle(memory[1], 0, 0, &handles.unlisted) != 0 ||
        aclrtMemSetPidToShareableHandle(handles.listed, &importer, 1) != 0 ||
        aclrtMemSetPidToShareableHandle(handles.unlisted, &stranger, 1) != 0) {
      return 1;
    }
    ::send(link, &handles, sizeof handles, MSG_NOSIGNAL);
    char word = 0;
    if (::recv(link, &word, 1, 0) != 1) return 0;
    if (aclrtFreePhysical(memory[0]) != 0) return 2;
    word = is_violated("aclrtFreePhysical of the owner before that of the importers") ? 1 : 0;
    ::send(link, &word, 1, MSG_NOSIGNAL);
    ::recv(link, &word, 1, 0);  // until the other has ended
    return 0;
  }

  pid_t child_ = -1;
  int link_ = -1;
};

TEST_F(StandInSharing, GivesMemoryOnceAndOnlyToWhoIsListed) {
  void* memory = nullptr;
  void* again = nullptr;
  EXPECT_EQ(aclrtMemImportFromShareableHandle(handles_.listed, 1, &memory), 107000) << "for another device";
  EXPECT_EQ(aclrtMemImportFromShareableHandle(handles_.unlisted, 0, &memory), 107000);
  ASSERT_EQ(aclrtMemImportFromShareableHandle(handles_.listed, 0, &memory), 0);
  EXPECT_EQ(aclrtMemImportFromShareableHandle(handles_.listed, 0, &again), 107000) << "twice";
  EXPECT_EQ(aclrtMemExportToShareableHandle(memory, 0, 0, &handles_.unlisted), 107000) << "of somebody else";
  EXPECT_EQ(aclrtFreePhysical(memory), 0);
  EXPECT_FALSE(is_freed_too_early());
  EXPECT_EQ(aclrtMemImportFromShareableHandle(handles_.listed, 0, &memory), 107017) << "freed";
}

TEST_F(StandInSharing, WantsTheExporterToFreeLast) {
  void* memory = nullptr;
  ASSERT_EQ(aclrtMemImportFromShareableHandle(handles_.listed, 0, &memory), 0);
  EXPECT_TRUE(is_freed_too_early());
  EXPECT_EQ(aclrtFreePhysical(memory), 0);
}

TEST_F(StandInSharing, ForgetsImportersThatHaveDied) {
  // Its number is not on the list, so what it imports is for all.
  char handle[128] = {};
  void* memory = nullptr;
  ASSERT_EQ(aclrtMallocPhysical(&memory, kUnit, kMemory, 0), 0);
  ASSERT_EQ(aclrtMemExportToShareableHandleV2(memory, 1, 2, handle), 0);
  const pid_t other = ::fork();
  if (other == 0) {
    standin::reset();
    void* imported = nullptr;
    const bool is_fine = aclInit(nullptr) == 0 && aclrtSetDevice(1) == 0 &&
                         aclrtMemImportFromShareableHandleV2(handle, 2, 0, &imported) == 0;
    ::_exit(is_fine ? 0 : 1);
  }
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(other), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(ended.si_status, 0);
  EXPECT_EQ(aclrtFreePhysical(memory), 0);
  EXPECT_FALSE(is_violated("before that of the importers"));
  EXPECT_EQ(::waitpid(other, nullptr, 0), other);
}

TEST_F(StandInSharing, MapsMemoryOfADeviceThatMayBeReached) {
  void* memory = nullptr;
  void* place = nullptr;
  ASSERT_EQ(aclrtMemImportFromShareableHandle(handles_.listed, 0, &memory), 0);
  ASSERT_EQ(aclrtReserveMemAddress(&place, kUnit, 0, nullptr, 0), 0);
  EXPECT_EQ(aclrtMapMem(place, kUnit, 0, memory, 0), 107000) << "nobody has enabled it";
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), 0);
  EXPECT_EQ(aclrtMapMem(place, kUnit, 0, memory, 0), 0);
  EXPECT_EQ(aclrtUnmapMem(place), 0);
  void* own = nullptr;
  ASSERT_EQ(aclrtMallocPhysical(&own, kUnit, kMemory, 0), 0);
  EXPECT_EQ(aclrtMapMem(place, kUnit, 0, own, 0), 107000) << "addresses are for memory of one process";
  EXPECT_EQ(aclrtFreePhysical(memory), 0);
}

TEST_F(StandInSharing, MapsAtAddressesOfTheSameDevice) {
  void* memory = nullptr;
  void* place = nullptr;
  ASSERT_EQ(aclrtReserveMemAddress(&place, kUnit, 0, nullptr, 0), 0);
  ASSERT_EQ(aclrtSetDevice(1), 0);
  ASSERT_EQ(aclrtMallocPhysical(&memory, kUnit, kMemoryOfDevice1, 0), 0);
  EXPECT_EQ(aclrtMapMem(place, kUnit, 0, memory, 0), 107000);
}

TEST_F(StandIn, ImportsNothingOfItsOwnThroughTheFabric) {
  void* memory = nullptr;
  void* imported = nullptr;
  char handle[128] = {};
  ASSERT_EQ(aclrtMallocPhysical(&memory, kUnit, kMemory, 0), 0);
  EXPECT_EQ(aclrtMemExportToShareableHandleV2(memory, 1, 1, handle), 107000) << "no type of the fabric";
  ASSERT_EQ(aclrtMemExportToShareableHandleV2(memory, 1, 2, handle), 0);
  EXPECT_EQ(aclrtMemImportFromShareableHandleV2(handle, 2, 0, &imported), 107000);
}

}  // namespace
}  // namespace baton::test
