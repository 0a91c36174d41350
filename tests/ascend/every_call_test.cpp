// Every call that the platform makes fails once: the error has the vendor's number and text, and nothing is left
// behind.
#include <dlfcn.h>

#include <algorithm>
#include <set>

#include <baton/platform.h>

#include "ascend_fixture.hpp"

namespace baton::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

/// libbaton_a2a3.so, without what Chip does above it.
class Library {
 public:
  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(handle_, name));
  }

 private:
  void* handle_ = ::dlopen(ascend_platform("a2a3").c_str(), RTLD_NOW | RTLD_LOCAL);
};

/// What went wrong in one use of a device; each end is tried all the same.
class Scenario {
 public:
  void run() {
    BatonDevice* device = nullptr;
    if (failed(library_.find<BatonDeviceOpen>("baton_device_open")(0, &device))) return;
    use(device);
    failed(library_.find<BatonDeviceClose>("baton_device_close")(device));
  }
  [[nodiscard]] const std::vector<std::string>& errors() const { return errors_; }

 private:
  static constexpr int kTasks = 3;

  bool failed(int status) {
    if (status == 0) return false;
    errors_.emplace_back(library_.find<BatonPlatformLastError>("baton_platform_last_error")());
    return true;
  }

  void use(BatonDevice* device) {
    std::uint64_t cell = 0;
    std::int64_t value = 0;
    if (failed(library_.find<BatonDeviceAlloc>("baton_device_alloc")(device, sizeof value, &cell))) return;
    run_graph(device, cell);
    failed(library_.find<BatonDeviceCopyOut>("baton_device_copy_out")(device, &value, cell, sizeof value));
    if (errors_.empty()) {
      EXPECT_EQ(value, 123123);
    }
    failed(library_.find<BatonDeviceFree>("baton_device_free")(device, cell));
  }

  void run_graph(BatonDevice* device, std::uint64_t cell) {
    BatonDeviceKernel* kernels[2] = {};
    const auto load = library_.find<BatonDeviceLoadKernel>("baton_device_load_kernel");
    for (const BatonCoreType core : {BATON_CORE_VECTOR, BATON_CORE_CUBE}) {
      if (failed(load(device, ascend_library("a2a3", core).c_str(), "append", &kernels[core]))) return;
    }
    BatonDeviceTask tasks[kTasks] = {};
    BatonDeviceArgument arguments[kTasks][2] = {};
    for (int i = 0; i < kTasks; ++i) {
      arguments[i][0] = {.access = BATON_ARGUMENT_INOUT,
                         .dtype = 7,
                         .dims = 1,
                         .reserved = 0,
                         .address = cell,
                         .bytes = 8,
                         .offset = 0,
                         .shape = {1},
                         .strides = {1}};
      arguments[i][1].address = static_cast<std::uint64_t>(i + 1);
      // The last one is of a cluster, whose vector cores have nothing to do.
      tasks[i].kernels[0] = kernels[std::min<int>(i, BATON_CORE_CUBE)];
      tasks[i].arguments = arguments[i];
      tasks[i].argument_count = 2;
      tasks[i].cores = static_cast<std::uint32_t>(i);
      tasks[i].blocks = 1;
    }
    const std::uint64_t first[] = {0, 0, 1, 2};
    const std::uint32_t before[] = {0, 1};
    BatonDeviceGraph* graph = nullptr;
    if (failed(library_.find<BatonGraphMake>("baton_graph_make")(device, tasks, kTasks, first, before, &graph))) return;
    BatonRunOptions options{};
    options.wait_limit_ns = 1'000'000'000;
    options.run_limit_ns = 10'000'000'000;
    for (int run = 0; run < 2; ++run) {
      std::uint32_t failed_task = 0;
      failed(library_.find<BatonGraphRun>("baton_graph_run")(graph, &options, &failed_task));
      failed(library_.find<BatonGraphSet>("baton_graph_set")(graph, 0, &tasks[0]));
    }
    failed(library_.find<BatonGraphFree>("baton_graph_free")(graph));
  }

  Library library_;
  std::vector<std::string> errors_;
};

TEST_F(Ascend, EveryCallThatFailsIsAnErrorWithItsNumberAndTextAndNothingIsLeftBehind) {
  Scenario good;
  good.run();
  ASSERT_THAT(good.errors(), testing::IsEmpty());
  const std::map<std::string, int> calls = standin::calls();
  // What ends things: if it fails, something stays.
  const std::set<std::string> endings = {"aclrtDestroyStream", "aclrtDestroyEvent", "aclrtBinaryUnLoad",
                                         "aclrtFree",          "aclrtResetDevice",  "aclFinalize"};
  int failures = 0;
  for (const auto& [function, count] : calls) {
    if (function == "aclGetRecentErrMsg" || function == "aclrtGetSocName") continue;
    for (int nth = 1; nth <= count; ++nth) {
      SCOPED_TRACE(function + " " + std::to_string(nth) + " of " + std::to_string(count));
      standin::reset();
      standin::fail_call(function, nth, 207001);
      Scenario bad;
      bad.run();
      ++failures;
      ASSERT_FALSE(bad.errors().empty());
      EXPECT_THAT(bad.errors().front(), HasSubstr(function + ": 207001 (no memory): "));
      EXPECT_THAT(bad.errors().front(), HasSubstr(function + " fails because a test wants it"));
      // One call fails, so one thing stays at most.
      const std::vector<std::string> alive = standin::alive();
      if (endings.contains(function)) {
        EXPECT_LE(alive.size(), 1U);
      } else if (function != "aclrtSetCurrentContext" || nth < count) {
        EXPECT_THAT(alive, testing::IsEmpty());
        EXPECT_THAT(standin::violations(), testing::IsEmpty());
      }
    }
  }
  EXPECT_GT(failures, 50);
  standin::reset();
}

TEST_F(Ascend, AProcessThatHasStartedTheRuntimeItselfKeepsIt) {
  const auto init = reinterpret_cast<int (*)(const char*)>(::dlsym(RTLD_DEFAULT, "aclInit"));
  const auto finalize = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "aclFinalize"));
  ASSERT_EQ(init(nullptr), 0);
  Scenario scenario;
  scenario.run();
  EXPECT_THAT(scenario.errors(), testing::IsEmpty());
  EXPECT_EQ(standin::calls()["aclFinalize"], 0);
  EXPECT_EQ(finalize(), 0);
}

}  // namespace
}  // namespace baton::test
