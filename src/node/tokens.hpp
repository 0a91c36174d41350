// Tokens of a node: tensors that carry no data, only an edge from the wait for a notification.
#pragma once

#include <span>

#include <baton/task_args.hpp>

#include "base/fail.hpp"
#include "chip/graph/task_id.hpp"

namespace baton::node {

/// Above it are the tokens of nodes, below those of the graphs of chips.
inline constexpr std::uint64_t kFirstToken = std::uint64_t{1} << 56U;

/// What the task `id` outputs.
[[nodiscard]] inline Tensor token_of(graph::TaskId id) { return Tensor::token(kFirstToken + id); }

[[nodiscard]] inline bool is_token(const Tensor& tensor) { return tensor.buffer().space == MemorySpace::token; }

/// Throws Error (invalid_argument) if it is the token of a chip's graph.
inline void check_maker(const Tensor& token) {
  if (token.buffer().address >= token_of(0).buffer().address) return;
  fail(Code::invalid_argument,
       "a token of a chip's graph means nothing to a node; take one of Orchestration::submit_notification_wait()");
}

/// Throws Error (invalid_argument) unless all tokens among the arguments are a node's, and inputs.
inline void check_tokens(const TaskArgs& args) {
  for (const TaskArgs::Arg& arg : args.all()) {
    if (!arg.is_tensor || !is_token(arg.tensor)) continue;
    check_maker(arg.tensor);
    if (arg.type == TensorArgType::input || arg.type == TensorArgType::no_dep) continue;
    fail(Code::invalid_argument, "a token has no memory that a task could write; pass it as an input");
  }
}

/// Throws Error (invalid_argument) unless all of them are tokens of a node.
inline void check_tokens(std::span<const Tensor> tokens) {
  for (const Tensor& token : tokens) {
    if (!is_token(token)) {
      fail(Code::invalid_argument, "{} is not a token; to wait for the tasks that write it, pass it as an argument",
           token.describe());
    }
    check_maker(token);
  }
}

}  // namespace baton::node
