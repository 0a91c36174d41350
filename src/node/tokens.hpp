// Tokens of a node: tensors that carry no data, only an edge from the wait for a notification.
#pragma once

#include <baton/task_args.hpp>

#include "base/fail.hpp"
#include "chip/graph/task_id.hpp"

namespace baton::node {

/// Above it are the tokens of nodes, below those of the graphs of chips.
inline constexpr std::uint64_t kFirstToken = std::uint64_t{1} << 56U;

/// What the task `id` outputs.
[[nodiscard]] inline Tensor token_of(graph::TaskId id) { return Tensor::token(kFirstToken + id); }

/// Whether a callable does not see this argument. Throws Error (invalid_argument) if it is the token of a chip's graph.
[[nodiscard]] inline bool is_token(const TaskArgs::Arg& arg) {
  if (!arg.is_tensor || arg.tensor.buffer().space != MemorySpace::token) return false;
  if (arg.tensor.buffer().address >= token_of(0).buffer().address) return true;
  fail(Code::invalid_argument,
       "a token of a chip's graph means nothing to a node; take one of Orchestration::submit_notification_wait()");
}

}  // namespace baton::node
