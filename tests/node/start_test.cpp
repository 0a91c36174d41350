// Nodes that are started, or cannot be, or are started again.
#include <signal.h>
#include <unistd.h>

#include <chrono>

#include <gtest/gtest.h>

#include <baton/chip.hpp>

#include "node_fixture.hpp"
#include "node_kernels.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

/// What the node itself had sent to chips that are started again, such as the release of a domain, is not waited for.
TEST(NodeRestart, LeavesNoRoomTakenInTheWindow) {
  WorkerOptions options = node_options({Isolation::processes, 2});
  options.task_window = 4;
  Worker worker(options);
  const Tensor x = worker.create_buffer(DType::float32, {4});
  EXPECT_THROW(worker.run([&](Orchestration& o) {
    DomainHandle domain = o.allocate_domain("pair", {0, 1}, 64);
    // It never gets to the release.
    ASSERT_EQ(::kill(worker.pid_of(0), SIGSTOP), 0);
    domain.release();
    o.submit_next_level(on_chip(node_die), TaskArgs().add_tensor(x, TensorArgType::inout), 1);
  }),
               Error);
  worker.run([&](Orchestration& o) {
    for (int i = 0; i < 10; ++i) {
      o.submit_next_level(on_chip(node_add), TaskArgs().add_tensor(x, TensorArgType::inout).add_scalar(1.0F), i % 2);
    }
  });
  EXPECT_EQ(floats(x)[0], 10.0F);
}

TEST(NodeStart, RefusesDevicesAndThreadsThatAreNone) {
  WorkerOptions options = node_options({Isolation::inproc, 2});
  options.devices = {0, 3, 3};
  require_error(Code::invalid_argument, {"chips 1 and 2 are both device 3"}, [&] { const Worker worker(options); });
  options.devices = {0, -1};
  require_error(Code::invalid_argument, {"no device -1"}, [&] { const Worker worker(options); });
  options.devices = {7, 2};
  options.chip_threads = -1;
  require_error(Code::invalid_argument, {"-1 threads"}, [&] { const Worker worker(options); });
  options.chip_threads = 1'000'000;
  require_error(Code::invalid_argument, {"1000000 threads"}, [&] { const Worker worker(options); });
  options.chip_threads = 0;
  options.kernel_timeout = std::chrono::nanoseconds(-1);
  require_error(Code::invalid_argument, {"time limit"}, [&] { const Worker worker(options); });
  require_error(Code::invalid_argument, {"-1 threads"}, [] { const Chip chip({.threads = -1}); });
  require_error(Code::invalid_argument, {"1000000 threads"}, [] { const Chip chip({.threads = 1'000'000}); });
}

TEST(NodeStart, FailsWithTheReason) {
  WorkerOptions options = node_options({Isolation::processes, 2});
  options.platform = "a9";
  require_error(Code::invalid_argument, {"a9"}, [&] { const Worker worker(options); });
  options.isolation = Isolation::inproc;
  require_error(Code::invalid_argument, {"a9"}, [&] { const Worker worker(options); });
  options = node_options({Isolation::processes, 2});
  options.chip_program = "/nonexistent/chip";
  require_error(Code::launch_failed, {"/nonexistent/chip"}, [&] { const Worker worker(options); });
  options.chip_program = "/bin/false";
  require_error(Code::launch_failed, {"exit code 1"}, [&] { const Worker worker(options); });
  options.level = 2;
  require_error(Code::invalid_argument, {"level 2"}, [&] { const Worker worker(options); });
}

TEST(NodeStart, OfLevelTwoIsOneChipHere) {
  WorkerOptions options = node_options({Isolation::processes, 1});
  options.level = 2;
  Worker worker(options);
  EXPECT_EQ(worker.chip_count(), 1);
  EXPECT_EQ(worker.pid_of(0), ::getpid());
  const Tensor x = worker.create_buffer(DType::float32, {4});
  worker.run([&](Orchestration& o) {
    o.submit_next_level(on_chip(node_add), TaskArgs().add_tensor(x, TensorArgType::inout).add_scalar(1.0F), 0);
  });
  EXPECT_EQ(floats(x)[0], 1.0F);
}

}  // namespace
}  // namespace baton::test
