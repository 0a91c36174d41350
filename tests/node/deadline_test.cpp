// Deadlines on a node: chips that do not answer, kernels and host functions that do not end. BATON_WAIT_TIMEOUT is
// short here (CMakeLists.txt).
#include <signal.h>

#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "base/process_stat.hpp"
#include "node_fixture.hpp"
#include "node_kernels.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

/// Every chip writes its rank into the windows of all, and adds up what it finds in its own.
void expect_usable(Worker& worker, std::int64_t value) {
  const int chips = worker.chip_count();
  const Tensor out = worker.create_buffer(DType::int64, {chips});
  worker.run([&](Orchestration& o) {
    const CommBufferSpec buffers[] = {{"cells", DType::int64, static_cast<std::size_t>(chips)},
                                      {"arrived", DType::int32, 1}};
    const DomainHandle domain = o.allocate_domain("all", worker.options().devices, 0, buffers);
    for (int chip = 0; chip < chips; ++chip) {
      TaskArgs args;
      args.add_tensor(domain[chip].buffer("cells").tensor, TensorArgType::inout)
          .add_tensor(domain[chip].buffer("arrived").tensor, TensorArgType::inout)
          .add_tensor(out.slice(chip, chip + 1), TensorArgType::output)
          .add_scalar(domain[chip].device_ctx)
          .add_scalar(value)
          .add_scalar(1);
      o.submit_next_level(on_chip(node_sum), args, chip);
    }
  });
  const auto* sums = reinterpret_cast<const std::int64_t*>(out.address());
  for (int chip = 0; chip < chips; ++chip) EXPECT_EQ(sums[chip], 50 * chips * (chips - 1) + value * chips);
  worker.free_buffer(out);
}

class StoppedChip : public testing::Test {
 protected:
  /// Returns when it has stopped: on another processor it may answer once more before the signal arrives.
  void stop() {
    ASSERT_EQ(::kill(victim_, SIGSTOP), 0);
    const auto stopped = [this] {
      const auto process = read_process_stat(static_cast<std::uint32_t>(victim_));
      return process && process->state == 'T';
    };
    while (!stopped()) std::this_thread::yield();
  }
  void go_on() { ASSERT_EQ(::kill(victim_, SIGCONT), 0); }

  Worker worker{node_options({Isolation::processes, 4})};
  pid_t victim_ = worker.pid_of(2);
  std::string name_ = "chip 2 (pid " + std::to_string(victim_);  // and its host, if it has another
};

/// It goes on and answers what it was asked. Nobody takes that for the answer to a later request.
TEST_F(StoppedChip, IsStartedAgainByTheNextRunAndItsLateAnswerIsNobodys) {
  expect_usable(worker, 1);
  require_error(Code::wait_timeout, {name_, "has not answered", "stopped", "next run"}, [&] {
    worker.run([&](Orchestration& o) {
      stop();
      static_cast<void>(o.allocate_domain("late", worker.options().devices, 64));
    });
  });
  go_on();
  for (int run = 0; run < 4; ++run) expect_usable(worker, 10 * run);
  EXPECT_NE(worker.pid_of(2), victim_);
}

/// No peer of its tasks can notice: the node itself does.
TEST_F(StoppedChip, IsEndedWhenItsTasksAreWaitedFor) {
  const Tensor x = worker.create_buffer(DType::float32, {4});
  require_error(Code::rank_failed, {name_, "was stopped", "it ran", "'node_add'", "deadline_test.cpp"}, [&] {
    worker.run([&](Orchestration& o) {
      stop();
      o.submit_next_level(on_chip(node_add), TaskArgs().add_tensor(x, TensorArgType::inout).add_scalar(1.0F), 2);
    });
  });
  expect_usable(worker, 1);
}

/// Within the run nothing more is asked of it: it may still be at work on the earlier request.
TEST_F(StoppedChip, IsAskedNothingMoreInThatRun) {
  worker.run([&](Orchestration& o) {
    const CommBufferSpec buffers[] = {{"x", DType::int32, 16}};
    const DomainHandle domain = o.allocate_domain("all", worker.options().devices, 0, buffers);
    const Tensor& there = domain[2].buffer("x").tensor;
    std::vector<std::int32_t> values(16, 7);
    stop();
    require_error(Code::wait_timeout, {name_, "has not answered"},
                  [&] { o.copy_to(there, std::span<const std::int32_t>(values)); });
    go_on();
    require_error(Code::wait_timeout, {name_, "has not answered an earlier request"},
                  [&] { o.copy_from(std::span<std::int32_t>(values), there); });
    require_error(Code::wait_timeout, {name_},
                  [&] { static_cast<void>(o.submit_notification_wait(there.slice(0, 1), 1)); });
    const Tensor& elsewhere = domain[1].buffer("x").tensor;
    o.copy_to(elsewhere, std::span<const std::int32_t>(values));
  });
  expect_usable(worker, 5);
}

// The thread sanitizer delivers a signal when a thread next calls it, and these kernels call nobody.
#if !defined(BATON_SANITIZE_THREAD)
class EndlessKernel : public testing::TestWithParam<NodeShape> {
 protected:
  static WorkerOptions options() {
    WorkerOptions made = node_options(GetParam());
    made.kernel_timeout = std::chrono::milliseconds(500);
    return made;
  }
  [[nodiscard]] OrchestrationFunction spin(int chip) const {
    return [this, chip](Orchestration& o) {
      o.submit_next_level(on_chip(node_spin), TaskArgs().add_tensor(x_, TensorArgType::inout), chip);
    };
  }

  Worker worker{options()};
  Tensor x_ = worker.create_buffer(DType::float32, {4});
};
const std::vector<NodeShape> kShapes = {{Isolation::processes, 2}, {Isolation::inproc, 2}};
INSTANTIATE_TEST_SUITE_P(, EndlessKernel, testing::ValuesIn(possible(kShapes)),
                         [](const auto& shape) { return name_of(shape.param); });

TEST_P(EndlessKernel, IsAnErrorThatNamesItAndTheNodeLivesOn) {
  const int before = worker.pid_of(1);
  for (const std::string& words : words_of_a_late_kernel("node_spin", "0.5 s")) {
    require_error(Code::kernel_timeout, {words, "on chip 1", "deadline_test.cpp"}, [&] { worker.run(spin(1)); });
  }
  expect_usable(worker, 3);
  EXPECT_EQ(worker.pid_of(1), before) << "a chip was ended for it";
}

TEST_P(EndlessKernel, DoesNotKeepTheWorkerFromBeingClosed) {
  const RunHandle run = worker.submit(spin(0));
  worker.close();
  require_error(Code::kernel_timeout, {"'node_spin'"}, [&] { run.result(); });
}
#endif

TEST(EndlessHostFunction, IsAnErrorThatNamesItAndTheNodeLivesOn) {
  std::promise<void> go_on;
  std::promise<void> returned;
  const auto may_go_on = go_on.get_future().share();
  {
    WorkerOptions options = node_options({Isolation::inproc, 1});
    options.kernel_timeout = std::chrono::milliseconds(200);
    Worker worker(options);
    const Tensor x = worker.create_buffer(DType::float32, {4});
    const TaskArgs args = TaskArgs().add_tensor(x, TensorArgType::inout);
    const auto endless = [&](const ChipArgs& given) {
      may_go_on.wait();
      floats(given.tensor(0))[0] = 7;  // the memory of the node that was closed
      returned.set_value();
    };
    require_error(Code::kernel_timeout,
                  {"a host function has run for more than 0.2 s", "task 1 of", "deadline_test.cpp"},
                  [&] { worker.run([&](Orchestration& o) { o.submit_sub(endless, args); }); });
    // It had the only thread of the pool.
    worker.run(
        [&](Orchestration& o) { o.submit_sub([](const ChipArgs& given) { floats(given.tensor(0))[1] = 5; }, args); });
    EXPECT_EQ(floats(x)[1], 5);
    const RunHandle run = worker.submit(
        [&](Orchestration& o) { o.submit_sub([may_go_on](const ChipArgs&) { may_go_on.wait(); }, args); });
    worker.close();
    require_error(Code::kernel_timeout, {"a host function"}, [&] { run.result(); });
  }
  go_on.set_value();
  returned.get_future().wait();
}

}  // namespace
}  // namespace baton::test
