// Tasks of a node that wait for a notification.
#include <atomic>

#include "node_fixture.hpp"
#include "node_kernels.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

class NodeNotifications : public Node {
 protected:
  static DomainHandle pair(Orchestration& o) {
    return o.allocate_domain("pair", {0, 1}, 0, {{"data", DType::int64, 1}, {"arrived", DType::int32, 4}});
  }
  /// Signal `index` of `chip`.
  static Tensor arrived(const DomainHandle& domain, int chip, std::int64_t index) {
    return domain[chip].buffer("arrived").tensor.slice(index, index + 1);
  }
  /// Chip `from` writes `value` to its peer and notifies signal `index` there.
  static void tell(Orchestration& o, const DomainHandle& domain, int from, std::int64_t index, std::int64_t value,
                   std::int64_t late) {
    TaskArgs args;
    args.add_tensor(domain[from].buffer("data").tensor, TensorArgType::inout)
        .add_tensor(arrived(domain, from, index), TensorArgType::inout)
        .add_scalar(domain[from].device_ctx)
        .add_scalar(static_cast<std::uint32_t>(domain[1 - from].domain_rank))
        .add_scalar(value)
        .add_scalar(late);
    o.submit_next_level(on_chip(node_tell), args, from);
  }
  static std::int64_t& integer(const Tensor& tensor) { return *reinterpret_cast<std::int64_t*>(tensor.address()); }
};

INSTANTIATE_TEST_SUITE_P(, NodeNotifications,
                         testing::ValuesIn(possible({NodeShape{Isolation::processes, 2},
                                                     NodeShape{Isolation::inproc, 2}})),
                         [](const auto& shape) { return name_of(shape.param); });

TEST_P(NodeNotifications, KeepTheirTasksButNoChipFromOthers) {
  const Tensor out = worker.create_buffer(DType::int64, {1});
  const Tensor other = worker.create_buffer(DType::float32, {1});
  worker.run([&](Orchestration& o) {
    const DomainHandle domain = pair(o);
    for (std::int64_t round = 1; round <= 3; ++round) {
      const auto needed = static_cast<std::int32_t>(round);
      const Tensor token = o.submit_notification_wait(arrived(domain, 1, 2), needed);
      // The chip goes on with what does not need the notification.
      TaskArgs beside;
      beside.add_tensor(other, TensorArgType::inout).add_scalar(1.0F);
      o.wait(o.submit_next_level(on_chip(node_add), beside, 1));
      TaskArgs args;
      args.add_tensor(domain[1].buffer("data").tensor, TensorArgType::input).add_tensor(out, TensorArgType::output);
      const TaskId last = o.submit_next_level(on_chip(node_next), args, 1, {.tokens = {token}});
      tell(o, domain, 0, 2, 100 * round, 20);
      o.wait(last);
      EXPECT_EQ(integer(out), 100 * round + 1);
    }
  });
  EXPECT_EQ(floats(other)[0], 3.0F);
}

TEST_P(NodeNotifications, AreArgumentsOfKernelsAndOrchestrations) {
  const Tensor out = worker.create_buffer(DType::int64, {2});
  worker.run([&](Orchestration& o) {
    const DomainHandle domain = pair(o);
    const Tensor token = o.submit_notification_wait(arrived(domain, 1, 0), 1);
    const auto args = [&](std::int64_t index) {
      return TaskArgs()
          .add_tensor(token, TensorArgType::input)
          .add_tensor(domain[1].buffer("data").tensor, TensorArgType::input)
          .add_tensor(out.slice(index, index + 1), TensorArgType::output);
    };
    o.submit_next_level(on_chip(node_next_after), args(0), 1);
    o.submit_next_level(next_after, args(1), 1);
    tell(o, domain, 0, 0, 41, 20);
  });
  EXPECT_EQ(integer(out), 42) << "the kernel did not wait, or does not see the token";
  EXPECT_EQ(integer(out.slice(1, 2)), 42) << "the same of the orchestration";
}

TEST_P(NodeNotifications, ReachTasksOfOtherChipsAndHostFunctions) {
  const Tensor out = worker.create_buffer(DType::int64, {1});
  std::atomic<int> early{0};
  std::atomic<int> tensors{0};
  worker.run([&](Orchestration& o) {
    // The block ends before the notification: the windows stay for it.
    const DomainHandle domain = pair(o);
    const Tensor token = o.submit_notification_wait(arrived(domain, 1, 0), 1);
    const Tensor done = o.alloc(DType::int64, {1});
    TaskArgs set;
    set.add_tensor(done, TensorArgType::inout).add_scalar(std::int64_t{0}).add_scalar(std::int64_t{7});
    set.add_scalar(std::int64_t{20});
    o.submit_next_level(on_chip(node_set), set, 0);
    tell(o, domain, 0, 0, 5, 0);
    o.submit_sub(
        [&](const ChipArgs& sub) {
          tensors = static_cast<int>(sub.tensor_count());
          early = integer(sub.tensor(0)) == 7 ? 0 : 1;
        },
        TaskArgs().add_tensor(token, TensorArgType::input).add_tensor(done, TensorArgType::no_dep));
    TaskArgs args;
    args.add_tensor(done, TensorArgType::no_dep).add_tensor(out, TensorArgType::output);
    o.submit_next_level(on_chip(node_next), args, 0, {.tokens = {token}});
  });
  EXPECT_EQ(early, 0) << "the function did not wait for the token";
  EXPECT_EQ(tensors, 1) << "a function does not see tokens";
  EXPECT_EQ(integer(out), 8);
}

TEST_P(NodeNotifications, AreGivenUpWhenTheRunFails) {
  const Tensor out = worker.create_buffer(DType::int64, {1});
  integer(out) = -1;
  const int before = worker.pid_of(1);
  for (int i = 0; i < 2; ++i) {
    struct GaveUp {};
    EXPECT_THROW(worker.run([&](Orchestration& o) {
      const DomainHandle domain = pair(o);
      const Tensor token = o.submit_notification_wait(arrived(domain, 1, 0), 1);
      TaskArgs args;
      args.add_tensor(domain[1].buffer("data").tensor, TensorArgType::input).add_tensor(out, TensorArgType::output);
      o.submit_next_level(on_chip(node_next), args, 1, {.tokens = {token}});
      throw GaveUp{};
    }),
                 GaveUp);
  }
  EXPECT_EQ(integer(out), -1) << "ran without its notification";
  EXPECT_EQ(worker.pid_of(1), before) << "no chip had to be ended";
}

TEST_P(NodeNotifications, EndWhenTheChipThatWaitsDies) {
  if (GetParam().isolation == Isolation::inproc) GTEST_SKIP() << "a part of this process cannot be killed";
  const Tensor x = worker.create_buffer(DType::float32, {1});
  require_error(Code::rank_failed, {"chip 1", "SIGKILL"}, [&] {
    worker.run([&](Orchestration& o) {
      const DomainHandle domain = pair(o);
      static_cast<void>(o.submit_notification_wait(arrived(domain, 1, 0), 1));
      o.submit_next_level(on_chip(node_die), TaskArgs().add_tensor(x, TensorArgType::inout), 1);
    });
  });
}

TEST_P(NodeNotifications, SayWhatIsNoSignal) {
  const Tensor host = worker.create_buffer(DType::int32, {1});
  worker.run([&](Orchestration& o) {
    const DomainHandle domain = pair(o);
    require_error(Code::invalid_argument, {"lies in no window"},
                  [&] { static_cast<void>(o.submit_notification_wait(host, 1)); });
    require_error(Code::invalid_argument, {"a signal is one int32"},
                  [&] { static_cast<void>(o.submit_notification_wait(domain[1].buffer("data").tensor, 1)); });
    require_error(Code::invalid_argument, {"a signal is one int32"},
                  [&] { static_cast<void>(o.submit_notification_wait(domain[1].buffer("arrived").tensor, 1)); });
    TaskArgs args;
    args.add_tensor(Tensor::token(1), TensorArgType::input);
    require_error(Code::invalid_argument, {"token of a chip's graph"}, [&] { o.submit_next_level(nothing, args, 0); });
    require_error(Code::invalid_argument, {"token of a chip's graph"},
                  [&] { o.submit_next_level(nothing, {}, 0, {.tokens = {Tensor::token(1)}}); });
    require_error(Code::invalid_argument, {"is not a token"},
                  [&] { o.submit_next_level(nothing, {}, 0, {.tokens = {host}}); });
    const Tensor token = o.submit_notification_wait(arrived(domain, 1, 0), 0);
    require_error(Code::invalid_argument, {"no memory that a task could write"},
                  [&] { o.submit_next_level(nothing, TaskArgs().add_tensor(token, TensorArgType::inout), 0); });
  });
}

}  // namespace
}  // namespace baton::test
