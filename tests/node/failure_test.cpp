// What goes wrong on a node: kernels, orchestrations, host functions, chips that die.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>

#include <gmock/gmock.h>

#include <baton/chip.hpp>

#include "node_failure.hpp"
#include "node_kernels.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

class NodeDeath : public NodeFailure {};

const std::vector<NodeShape> kProcesses = {{Isolation::processes, 2}, {Isolation::processes, 8}};
const std::vector<NodeShape> kShapes = {
    {Isolation::processes, 2}, {Isolation::processes, 4}, {Isolation::inproc, 2}, {Isolation::inproc, 4}};
INSTANTIATE_TEST_SUITE_P(, NodeFailure, testing::ValuesIn(possible(kShapes)),
                         [](const auto& shape) { return name_of(shape.param); });
INSTANTIATE_TEST_SUITE_P(, NodeDeath, testing::ValuesIn(possible(kProcesses)),
                         [](const auto& shape) { return name_of(shape.param); });

TEST_P(NodeFailure, OfAKernelNamesChipTaskKernelAndPlace) {
  const Tensor x = worker.create_buffer(DType::float32, {4});
  const Tensor y = worker.create_buffer(DType::float32, {4});
  require_error(refusal_of_kernels(),
                {"kernel 'node_refuse'", "refused on purpose", "on chip 1", "failure_test.cpp", "submitted at"}, [&] {
                  worker.run([&](Orchestration& o) {
                    o.submit_next_level(on_chip(node_refuse), one(x), 1);
                    // On the same chip behind it, and on another one after it.
                    for (int chip = 1; chip >= 0; --chip) {
                      TaskArgs args;
                      args.add_tensor(x, TensorArgType::input).add_tensor(y, TensorArgType::output);
                      o.submit_next_level(on_chip(node_twice), args, chip);
                      TaskArgs more;
                      more.add_tensor(y, TensorArgType::inout).add_scalar(1.0F);
                      o.submit_next_level(on_chip(node_add), more, chip);
                    }
                  });
                });
  EXPECT_EQ(floats(y)[0], 0.0F) << "ran although what it reads was never made";
  expect_usable();
}

// The sanitizers have handlers of their own.
#if !defined(BATON_SANITIZE_ADDRESS) && !defined(BATON_SANITIZE_THREAD)
/// A failed assertion, a trap, an exception of any type: none ends a process, here or in the chip.
TEST_P(NodeFailure, OfAKernelThatCrashesOrThrowsIsAnErrorLikeOthers) {
  const Tensor x = worker.create_buffer(DType::float32, {4});
  const int before = worker.pid_of(1);
  const auto expect = [&](const Callable& kernel, const std::string& name, const std::string& what) {
    require_error(Code::kernel_fault, {"kernel '" + name + "'", what, "on chip 1", "submitted at", "failure_test.cpp"},
                  [&] { worker.run([&](Orchestration& o) { o.submit_next_level(kernel, one(x), 1); }); });
  };
  expect(on_chip(node_assert), "node_assert", "an assertion failed");
  expect(on_chip(node_trap), "node_trap", "trap");
  expect(on_chip(node_throw), "node_throw", "threw the int 5");
  EXPECT_EQ(worker.pid_of(1), before);
  expect_usable();
}
#endif

TEST_P(NodeFailure, OfTheOrchestrationEndsTheRun) {
  const Tensor x = worker.create_buffer(DType::float32, {4});
  try {
    worker.run([&](Orchestration& o) {
      TaskArgs args;
      args.add_tensor(x, TensorArgType::inout).add_scalar(1.0F);
      o.submit_next_level(on_chip(node_add), args, 0);
      throw std::runtime_error("the author gave up");
    });
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the author gave up");
  }
  expect_usable();
}

/// The task waits for a signal that nobody will send, now that the orchestration has ended.
TEST_P(NodeFailure, OfTheOrchestrationEndsTasksThatWaitForItsOthers) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(worker.run([&](Orchestration& o) {
    const DomainHandle domain = o.allocate_domain("lonely", {0, 1}, 0, {{"signal", DType::int32, 1}});
    TaskArgs args;
    args.add_tensor(domain[0].buffer("signal").tensor, TensorArgType::inout).add_scalar(1);
    o.submit_next_level(on_chip(node_await), args, 0);
    throw std::runtime_error("the author gave up");
  }),
               std::runtime_error);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20)) << "waited for the task's own deadline";
  expect_usable();
}

/// One member of a group fails, the other waits for it.
TEST_P(NodeFailure, OfAMemberEndsTheOthersOfItsGroup) {
  const Tensor x = worker.create_buffer(DType::float32, {4});
  require_error(refusal_of_kernels(), {"refused on purpose", "on chip 1"}, [&] {
    worker.run([&](Orchestration& o) {
      const DomainHandle domain = o.allocate_domain("pair", {0, 1}, 0, {{"signal", DType::int32, 1}});
      TaskArgs args;
      args.add_tensor(domain[0].buffer("signal").tensor, TensorArgType::inout).add_scalar(1);
      o.submit_next_level(on_chip(node_await), args, 0);
      o.submit_next_level(on_chip(node_refuse), one(x), 1);
    });
  });
  expect_usable();
}

TEST_P(NodeFailure, OfAHostFunctionIsTheRunsFailure) {
  const Tensor x = worker.create_buffer(DType::float32, {4});
  require_error(Code::rank_failed, {"a host function says no", "submitted at", "failure_test.cpp"}, [&] {
    worker.run([&](Orchestration& o) {
      o.submit_sub([](const ChipArgs&) { throw std::runtime_error("a host function says no"); }, one(x));
      TaskArgs args;
      args.add_tensor(x, TensorArgType::inout).add_scalar(1.0F);
      o.submit_next_level(on_chip(node_add), args, 0);
    });
  });
  EXPECT_EQ(floats(x)[0], 0.0F);
  expect_usable();
}

TEST_P(NodeFailure, RestartsOnRequest) {
  const int before = worker.pid_of(0);
  worker.restart();
  if (GetParam().isolation == Isolation::processes) {
    EXPECT_NE(worker.pid_of(0), before);
  }
  expect_usable();
}

TEST_P(NodeFailure, ClosedWorkersSaySo) {
  DomainHandle kept;
  worker.run([&](Orchestration& o) { kept = o.allocate_domain("kept", {0, 1}, 64); });
  worker.close();
  worker.close();
  require_error(Code::released, {"closed"}, [&] { worker.run([](Orchestration&) {}); });
  require_error(Code::released, {"\"kept\""}, [&] { static_cast<void>(kept[0]); });
}

/// What waits for the end of runs would wait for itself.
TEST_P(NodeFailure, CloseAndRestartInsideARunAreErrors) {
  const Tensor x = worker.create_buffer(DType::float32, {4});
  worker.run([&](Orchestration& o) {
    require_error(Code::invalid_argument, {"close()", "inside a run"}, [&] { worker.close(); });
    require_error(Code::invalid_argument, {"restart()", "inside a run"}, [&] { worker.restart(); });
    Worker other(node_options({Isolation::inproc, 1}));
    other.run([&](Orchestration&) {
      require_error(Code::invalid_argument, {"close()", "inside a run"}, [&] { worker.close(); });
    });
    other.close();
    o.submit_sub(
        [&](const ChipArgs&) {
          require_error(Code::invalid_argument, {"close()", "inside a run"}, [&] { worker.close(); });
        },
        one(x));
  });
  expect_usable();
}

TEST_P(NodeDeath, InsideARunLeavesPidsReadable) {
  const Tensor x = worker.create_buffer(DType::float32, {4});
  EXPECT_THROW(worker.run([&](Orchestration& o) {
    o.submit_next_level(on_chip(node_die), one(x), 1);
    try {
      o.copy_from(floats(x), x, 16);  // waits for the task
    } catch (const Error&) {
      EXPECT_GT(worker.pid_of(1), 0);
      require_error(Code::invalid_argument, {"starting the chips again", "inside a run"},
                    [&] { worker.run([](Orchestration&) {}); });
      throw;
    }
  }),
               Error);
  expect_usable();
}

TEST_P(NodeDeath, OfAChipIsTheRootCause) {
  const Tensor x = worker.create_buffer(DType::float32, {4});
  const int victim = worker.pid_of(1);
  require_error(Code::rank_failed,
                {"chip 1", "SIGKILL", std::to_string(victim), "it ran", "'node_die'", "failure_test.cpp"}, [&] {
                  worker.run([&](Orchestration& o) {
                    const DomainHandle domain = o.allocate_domain("pair", {0, 1}, 0, {{"signal", DType::int32, 1}});
                    TaskArgs args;
                    args.add_tensor(domain[0].buffer("signal").tensor, TensorArgType::inout).add_scalar(1);
                    o.submit_next_level(on_chip(node_await), args, 0);
                    o.submit_next_level(on_chip(node_die), one(x), 1);
                  });
                });
  floats(x)[0] = 5;
  expect_usable();
  EXPECT_EQ(floats(x)[0], 5.0F) << "host memory was lost";
  EXPECT_NE(worker.pid_of(1), victim);
}

TEST_P(NodeDeath, OfAChipLeavesTheBuffersOfOthersAsTheyAre) {
  const Tensor kept = worker.create_buffer_on(0, DType::float32, {4}, "kept");
  const Tensor x = worker.create_buffer(DType::float32, {4});
  const auto add_one = [&](Orchestration& o) {
    o.submit_next_level(on_chip(node_add), TaskArgs().add_tensor(kept, TensorArgType::inout).add_scalar(1.0F), 0);
  };
  worker.run(add_one);
  require_error(Code::rank_failed, {"chip 1"},
                [&] { worker.run([&](Orchestration& o) { o.submit_next_level(on_chip(node_die), one(x), 1); }); });
  worker.run(add_one);
  std::vector<float> got(4);
  worker.copy_from(got.data(), kept, 4 * sizeof(float));
  EXPECT_EQ(got, std::vector<float>(4, 2.0F));
}

TEST_P(NodeDeath, BetweenRunsIsRepairedByTheNextRun) {
  for (int chip = 0; chip < chips(); ++chip) ASSERT_EQ(::kill(worker.pid_of(chip), SIGKILL), 0);
  // A run that begins before the death of its chip is known fails with it; then the chips are started again.
  const Tensor x = worker.create_buffer(DType::float32, {4});
  for (int chip = 0; chip < chips(); ++chip) {
    try {
      worker.run([&](Orchestration& o) {
        TaskArgs args;
        args.add_tensor(x, TensorArgType::inout).add_scalar(1.0F);
        o.submit_next_level(on_chip(node_add), args, chip);
      });
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::rank_failed) << error.what();
    }
  }
  expect_usable();
}

TEST_P(NodeDeath, OfAChipReachesEveryRunThatUsedIt) {
  std::vector<RunHandle> runs;
  const Tensor x = worker.create_buffer(DType::float32, {8});
  for (int i = 0; i < 3; ++i) {
    runs.push_back(worker.submit([&, i](Orchestration& o) {
      o.submit_next_level(on_chip(node_die), one(x.slice(i, i + 1)), 0);
      o.submit_next_level(on_chip(node_twice),
                          TaskArgs()
                              .add_tensor(x.slice(i, i + 1), TensorArgType::input)
                              .add_tensor(x.slice(4, 5), TensorArgType::output),
                          1);
    }));
  }
  for (const RunHandle& run : runs) require_error(Code::rank_failed, {"chip 0", "SIGKILL"}, [&] { run.result(); });
  expect_usable();
}

}  // namespace
}  // namespace baton::test
