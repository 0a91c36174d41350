// Which platform the nodes under test have. Each program is linked with a file that says so.
#pragma once

#include <string>
#include <vector>

#include <baton/error.hpp>
#include <baton/kernel_handle.hpp>
#include <baton/task_args.hpp>
#include <baton/worker.hpp>

namespace baton::test {

struct NodeShape {
  Isolation isolation;
  int chips;
};

[[nodiscard]] std::string node_platform();
/// Those of `shapes` that it can have.
[[nodiscard]] std::vector<NodeShape> possible(std::vector<NodeShape> shapes);

/// What a task fails with whose kernel refuses its arguments.
[[nodiscard]] Code refusal_of_kernels();
/// What an error says of a kernel that has run for longer than `limit`.
[[nodiscard]] std::vector<std::string> words_of_a_late_kernel(const std::string& kernel, const std::string& limit);

/// A kernel of node_kernels.cpp as chips of that platform run it: for tasks of the node, and in an orchestration on the
/// chip.
[[nodiscard]] Callable on_chip(const Kernel& linked);
[[nodiscard]] const Kernel& loaded(const Kernel& linked);

}  // namespace baton::test
