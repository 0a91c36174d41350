// The arguments of a task that its author wants to see.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <orchestration/calls.h>
#include <baton/graph.hpp>

namespace baton::orchestration {

/// Dumps around one task: what it reads before it runs, what it writes after that. Named edges hold them in place where
/// none are inferred.
class ArgumentDumps {
 public:
  ArgumentDumps(Graph& graph, const BatonTaskRequest& asked);

  /// Whether there is anything to do.
  [[nodiscard]] bool wanted() const noexcept { return wanted_; }
  /// `after` is what the task waits for, and then also waits for these dumps.
  void before(std::vector<TaskId>& after);
  /// `tensors` are those of the arguments. Gives the task that is complete when all of it is written.
  [[nodiscard]] TaskId after(TaskId task, std::span<const Tensor> tensors);

 private:
  [[nodiscard]] std::string name_of(const char* kind, std::uint32_t number, const char* moment) const;

  Graph& graph_;
  const BatonTaskRequest& asked_;
  bool wanted_ = false;
};

}  // namespace baton::orchestration
