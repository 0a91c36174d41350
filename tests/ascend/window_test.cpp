// Windows of two chips in two processes, without what Chip does above them: what is mapped and given back, and what
// happens when any call fails.
#include <dlfcn.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <set>

#include <baton/comm_context.h>
#include <baton/platform.h>
#include <baton/chip_worker.hpp>

#include "ascend_fixture.hpp"

namespace baton::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t kBytes = 4096;

/// Where the two members are.
enum class Hosts : std::uint8_t { one, two };

/// The other process.
class Peer {
 public:
  Peer(int socket, std::uint32_t rank, Hosts hosts) : socket_(socket), rank_(rank), hosts_(hosts) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() { ::close(socket_); }

  [[nodiscard]] BatonGroup group() {
    static constexpr int kHosts[] = {0, 1};
    return {rank_, 2, this, &exchange, hosts_ == Hosts::two ? kHosts : nullptr};
  }
  /// False if the other has gone.
  bool meet() {
    char none[2] = {};
    return exchange(this, 0, nullptr, none, 1, none) == 0;
  }

 private:
  struct Header {
    int status;
    std::size_t bytes;
  };

  static int exchange(void* context, int status, const char* /*message*/, const void* mine, std::size_t bytes,
                      void* all) {
    auto& self = *static_cast<Peer*>(context);
    const Header own{status, bytes};
    Header other{};
    std::vector<char> theirs(bytes);
    if (!self.send(&own, sizeof own) || !self.send(mine, bytes)) return static_cast<int>(Code::peer_died);
    if (!self.receive(&other, sizeof other)) return static_cast<int>(Code::peer_died);
    if (other.bytes != bytes || !self.receive(theirs.data(), bytes)) return static_cast<int>(Code::mismatch);
    if (status != 0 || other.status != 0) return status != 0 ? status : other.status;
    std::memcpy(static_cast<char*>(all) + self.rank_ * bytes, mine, bytes);
    std::memcpy(static_cast<char*>(all) + (1 - self.rank_) * bytes, theirs.data(), bytes);
    return 0;
  }
  bool send(const void* from, std::size_t bytes) const {
    return ::send(socket_, from, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
  }
  bool receive(void* to, std::size_t bytes) const {
    constexpr int kLimitMs = 60'000;
    for (std::size_t done = 0; done < bytes;) {
      pollfd entry{socket_, POLLIN, 0};
      if (::poll(&entry, 1, kLimitMs) <= 0) return false;
      const ssize_t got = ::recv(socket_, static_cast<char*>(to) + done, bytes - done, 0);
      if (got <= 0) return false;
      done += static_cast<std::size_t>(got);
    }
    return true;
  }

  int socket_;
  std::uint32_t rank_;
  Hosts hosts_;
};

/// One member: opens a window, writes into the other's part, sees what the other wrote, and gives all back.
class Member {
 public:
  Member(int socket, std::uint32_t rank, int device, Hosts hosts, const std::string& platform)
      : peer_(socket, rank, hosts),
        rank_(rank),
        handle_(::dlopen(ascend_platform(platform).c_str(), RTLD_NOW | RTLD_LOCAL)) {
    BatonDevice* opened = nullptr;
    if (failed(find<BatonDeviceOpen>("baton_device_open")(device, &opened))) return;
    use(opened);
    failed(find<BatonDeviceClose>("baton_device_close")(opened));
  }

  [[nodiscard]] const std::vector<std::string>& errors() const { return errors_; }

 private:
  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(handle_, name));
  }
  bool failed(int status) {
    if (status == 0) return false;
    errors_.emplace_back(find<BatonPlatformLastError>("baton_platform_last_error")());
    return true;
  }

  void use(BatonDevice* device) {
    BatonDeviceWindow* window = nullptr;
    std::uint64_t parts[2] = {};
    const BatonGroup group = peer_.group();
    if (failed(find<BatonWindowOpen>("baton_window_open")(device, &group, kBytes, parts, &window))) return;
    std::int32_t value = -1;
    const auto read = [&] {
      failed(find<BatonDeviceCopyOut>("baton_device_copy_out")(device, &value, parts[rank_] + 8, sizeof value));
    };
    read();
    if (errors_.empty()) {
      EXPECT_EQ(value, 0) << "not zeroed";
    }
    if (peer_.meet()) {
      // On the stand-in memory of a chip is mapped here, too.
      *reinterpret_cast<std::int32_t*>(parts[1 - rank_] + 8) = 100 + static_cast<std::int32_t>(rank_);
      if (peer_.meet()) {
        read();
        if (errors_.empty()) {
          EXPECT_EQ(value, 101 - static_cast<std::int32_t>(rank_));
        }
      }
    }
    failed(find<BatonWindowLeave>("baton_window_leave")(window));
    peer_.meet();
    failed(find<BatonWindowClose>("baton_window_close")(window));
  }

  Peer peer_;
  std::uint32_t rank_;
  void* handle_;
  std::vector<std::string> errors_;
};

/// How the other process ended.
enum Outcome : int { kFine = 0, kFailed = 1, kLeftSomething = 2 };

class AscendWindow : public Ascend {
 protected:
  static void SetUpTestSuite() { ::setenv("HCCL_CONNECT_TIMEOUT", "5", 1); }

  /// This process as rank 0 on `device`, another one as rank 1 on `other`.
  void run_pair(int device = 0, int other = 1) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      standin::reset();
      if (platform_ == "a5") standin::set_architecture(3510);
      const Member member(ends[1], 1, other, hosts_, platform_);
      const bool clean = standin::alive().empty() && standin::violations().empty();
      ::_exit(!clean ? kLeftSomething : member.errors().empty() ? kFine : kFailed);
    }
    ::close(ends[1]);
    errors_ = Member(ends[0], 0, device, hosts_, platform_).errors();  // ends its side of the link, too
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    other_ = static_cast<Outcome>(WEXITSTATUS(status));
  }

  void every_call_fails_once(int least);

  Hosts hosts_ = Hosts::one;
  std::string platform_ = "a2a3";
  std::vector<std::string> errors_;
  Outcome other_ = kFine;
};

TEST_F(AscendWindow, IsReachedByBothAndGivenBack) {
  run_pair();
  EXPECT_THAT(errors_, IsEmpty());
  EXPECT_EQ(other_, kFine);
}

TEST_F(AscendWindow, KnowsChipsByTheNumbersOfTheDriver) {
  ::setenv("ASCEND_RT_VISIBLE_DEVICES", "7,6,5,4,3,2,1,0", 1);
  run_pair(2, 5);
  EXPECT_THAT(errors_, IsEmpty());
  EXPECT_EQ(other_, kFine);
  // One that this process does not see cannot be reached.
  ::setenv("ASCEND_RT_VISIBLE_DEVICES", "7,6", 1);
  run_pair(0, 2);
  ::unsetenv("ASCEND_RT_VISIBLE_DEVICES");
  ASSERT_THAT(errors_, testing::SizeIs(1));
  EXPECT_THAT(errors_[0], HasSubstr("does not see it"));
  EXPECT_EQ(other_, kFailed);
}

TEST_F(AscendWindow, OfOneChipNeedsNobody) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  ::close(ends[1]);
  const Peer peer(ends[0], 0, Hosts::one);
  BatonGroup alone{0, 1, nullptr, nullptr, nullptr};
  void* const library = ::dlopen(ascend_platform("a2a3").c_str(), RTLD_NOW | RTLD_LOCAL);
  BatonDevice* device = nullptr;
  ASSERT_EQ(reinterpret_cast<BatonDeviceOpen*>(::dlsym(library, "baton_device_open"))(0, &device), 0);
  BatonDeviceWindow* window = nullptr;
  std::uint64_t part = 0;
  ASSERT_EQ(
      reinterpret_cast<BatonWindowOpen*>(::dlsym(library, "baton_window_open"))(device, &alone, kBytes, &part, &window),
      0);
  EXPECT_NE(part, 0U);
  EXPECT_EQ(standin::calls()["HcclGetRootInfo"], 0);
  EXPECT_EQ(reinterpret_cast<BatonWindowClose*>(::dlsym(library, "baton_window_close"))(window), 0);
  EXPECT_EQ(reinterpret_cast<BatonDeviceClose*>(::dlsym(library, "baton_device_close"))(device), 0);
}

/// As a program does that drives a device itself. Returns what is wrong.
std::string talk_as_worker(int rank, const std::string& rendezvous) {
  ChipWorker worker(ascend_platform("a2a3"), rank);
  worker.comm_init(rank, 2, rendezvous);
  const std::uint64_t at = worker.comm_alloc_windows(kBytes);
  if (worker.comm_get_window_size() != kBytes) return "another size";
  CommContext context{};
  worker.copy_out(std::as_writable_bytes(std::span(&context, 1)), {.address = at, .bytes = sizeof context});
  if (context.workSpace != at || context.rankNum != 2 || context.rankId != static_cast<std::uint32_t>(rank) ||
      context.windowsIn[rank] != worker.comm_get_local_window_base()) {
    return "a context of somebody else";
  }
  const auto write = [&](std::uint64_t address, std::int32_t value) {
    worker.copy_in({.address = address, .bytes = sizeof value}, std::as_bytes(std::span(&value, 1)));
  };
  write(context.windowsIn[1 - rank] + 16, 50 + rank);
  worker.comm_barrier();
  std::int32_t seen = 0;
  worker.copy_out(std::as_writable_bytes(std::span(&seen, 1)),
                  {.address = worker.comm_get_local_window_base() + 16, .bytes = sizeof seen});
  worker.comm_destroy();
  return seen == 51 - rank ? "" : "saw " + std::to_string(seen);
}

TEST_F(AscendWindow, ComesThroughTheCommCallsOfAWorker) {
  const std::string rendezvous = "shm:ascend-" + std::to_string(::getpid());
  const pid_t child = ::fork();
  if (child == 0) {
    int code = kFailed;
    try {
      standin::reset();
      if (talk_as_worker(1, rendezvous).empty()) code = kFine;
      if (!standin::alive().empty() || !standin::violations().empty()) code = kLeftSomething;
    } catch (const std::exception&) {
    }
    ::_exit(code);
  }
  EXPECT_EQ(talk_as_worker(0, rendezvous), "");
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kFine);
}

TEST_F(AscendWindow, WaitsForACommunicatorThatIsBusy) {
  standin::fail_call("HcclCommDestroy", 1, 20);
  standin::fail_call("HcclCommDestroy", 2, 20);
  run_pair();
  EXPECT_THAT(errors_, IsEmpty());
}

TEST_F(AscendWindow, TellsOfChipsThatCannotReachEachOther) {
  standin::separate(0, 1);
  run_pair();
  ASSERT_THAT(errors_, testing::SizeIs(1));
  EXPECT_THAT(errors_[0], HasSubstr("chip 0 cannot reach memory of chip 1"));
  EXPECT_EQ(other_, kFailed);
}

TEST_F(AscendWindow, BetweenHostsIsReachedThroughTheFabric) {
  hosts_ = Hosts::two;
  run_pair(0, 0);  // each host has a chip of this number
  EXPECT_THAT(errors_, IsEmpty());
  EXPECT_EQ(other_, kFine);
  EXPECT_EQ(standin::calls()["aclrtMemExportToShareableHandleV2"], 1);
  EXPECT_EQ(standin::calls()["aclrtDeviceEnablePeerAccess"], 0);
}

TEST_F(AscendWindow, BetweenHostsWithoutAFabricFailsWithTheNumberOfTheVendor) {
  hosts_ = Hosts::two;
  ::setenv("STANDIN_NO_FABRIC", "1", 1);
  run_pair();
  ::unsetenv("STANDIN_NO_FABRIC");
  ASSERT_THAT(errors_, testing::SizeIs(1));
  EXPECT_THAT(errors_[0], HasSubstr("aclrtMemExportToShareableHandleV2: 207000 (not supported): "));
  EXPECT_EQ(other_, kFailed);
}

TEST_F(AscendWindow, BetweenHostsIsRefusedByNameWhereNoChipHasAFabric) {
  hosts_ = Hosts::two;
  platform_ = "a5";
  standin::set_architecture(3510);
  run_pair();
  ASSERT_THAT(errors_, testing::SizeIs(1));
  EXPECT_THAT(errors_[0], HasSubstr("ranks 0 and 1 are on different hosts; chips of platform a5 share windows within"));
  EXPECT_EQ(other_, kFailed);
}

void AscendWindow::every_call_fails_once(int least) {
  run_pair();
  ASSERT_THAT(errors_, IsEmpty());
  const std::map<std::string, int> calls = standin::calls();
  // What ends things: if it fails, something stays, and the other has ended what it has.
  const std::set<std::string> endings = {
      "aclrtUnmapMem",      "aclrtFreePhysical", "aclrtReleaseMemAddress",       "HcclCommDestroy",
      "aclrtDestroyStream", "aclrtResetDevice",  "aclrtDeviceDisablePeerAccess", "aclFinalize"};
  int failures = 0;
  for (const auto& [function, count] : calls) {
    if (function == "aclGetRecentErrMsg" || function == "aclrtGetSocName") continue;
    const bool of_hccl = function.starts_with("Hccl");
    for (int nth = 1; nth <= count; ++nth) {
      SCOPED_TRACE(function + " " + std::to_string(nth) + " of " + std::to_string(count));
      standin::reset();
      standin::fail_call(function, nth, of_hccl ? 3 : 207001);
      run_pair();
      ++failures;
      ASSERT_FALSE(errors_.empty());
      EXPECT_THAT(errors_.front(), HasSubstr(function + (of_hccl ? ": 3 (no memory): " : ": 207001 (no memory): ")));
      EXPECT_THAT(errors_.front(), HasSubstr(function + " fails because a test wants it"));
      const std::vector<std::string> alive = standin::alive();
      if (endings.contains(function)) {
        EXPECT_LE(alive.size(), 2U);
      } else if (function != "aclrtSetCurrentContext" || nth < count) {
        EXPECT_THAT(alive, IsEmpty());
        EXPECT_THAT(standin::violations(), IsEmpty());
        EXPECT_NE(other_, kLeftSomething);
      }
    }
  }
  EXPECT_GT(failures, least);
  standin::reset();
}

TEST_F(AscendWindow, EveryCallThatFailsFailsForBothAndNothingIsLeftBehind) { every_call_fails_once(30); }

TEST_F(AscendWindow, BetweenHostsEveryCallThatFailsFailsForBothAndNothingIsLeftBehind) {
  hosts_ = Hosts::two;
  every_call_fails_once(27);
}

}  // namespace
}  // namespace baton::test
