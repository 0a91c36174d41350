// A process with a node that forks: the node stays the parent's.
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>

#include <gtest/gtest.h>

#include "node_failure.hpp"

namespace baton::test {
namespace {

/// How a forked child ends that does this.
int in_forked_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    body();
    ::_exit(0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

/// Ends the child with 9 unless `use` says that the worker is the parent's.
void expect_refusal_in_child(const std::function<void()>& use) {
  try {
    use();
  } catch (const Error& error) {
    if (error.code() == Code::released && error.message().find("forked child") != std::string::npos) return;
  }
  ::_exit(9);
}

class NodeFork : public NodeFailure {};
const std::vector<NodeShape> kOfTwo = {{Isolation::processes, 2}, {Isolation::inproc, 2}};
INSTANTIATE_TEST_SUITE_P(, NodeFork, testing::ValuesIn(possible(kOfTwo)),
                         [](const auto& shape) { return name_of(shape.param); });

TEST_P(NodeFork, LeavesTheParentItsNode) {
  auto made = std::make_unique<Worker>(node_options(GetParam()));
  const Tensor x = made->create_buffer(DType::float32, {4});
  const TaskArgs plus_one = TaskArgs().add_tensor(x, TensorArgType::inout).add_scalar(1.0F);
  const auto add = [&] { made->run([&](Orchestration& o) { o.submit_next_level(on_chip(node_add), plus_one, 1); }); };
  add();
  const int before = made->pid_of(1);
  EXPECT_EQ(in_forked_child([&] {
              expect_refusal_in_child([&] { made->free_buffer(x); });
              expect_refusal_in_child([&] { static_cast<void>(made->create_buffer(DType::float32, {4})); });
              expect_refusal_in_child([&] { made->restart(); });
              expect_refusal_in_child(add);
              expect_refusal_in_child([&] { static_cast<void>(made->submit([](Orchestration&) {})); });
              made->close();
              made.reset();
            }),
            0);
  add();
  EXPECT_EQ(floats(x)[0], 2.0F);
  EXPECT_EQ(made->pid_of(1), before);
}

TEST_P(NodeFork, InsideARunLeavesTheRunToTheParent) {
  const Tensor x = worker.create_buffer(DType::float32, {4});
  const TaskArgs plus_one = TaskArgs().add_tensor(x, TensorArgType::inout).add_scalar(1.0F);
  const pid_t parent = ::getpid();
  int status = -1;
  try {
    worker.run([&](Orchestration& o) {
      o.submit_next_level(on_chip(node_add), plus_one, 0);
      static_cast<void>(o.alloc(DType::float32, {4}));
      const pid_t child = ::fork();
      if (child == 0) {
        ::alarm(30);
        expect_refusal_in_child([&] { o.submit_next_level(on_chip(node_add), plus_one, 0); });
        return;  // also what was allocated stays the parent's
      }
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      o.submit_next_level(on_chip(node_add), plus_one, 1);
    });
  } catch (const Error& error) {
    if (::getpid() != parent) ::_exit(error.code() == Code::released ? 0 : 9);
    throw;
  }
  if (::getpid() != parent) ::_exit(9);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(floats(x)[0], 2.0F);
  expect_usable();
}

}  // namespace
}  // namespace baton::test
