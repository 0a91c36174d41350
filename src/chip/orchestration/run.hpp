// One call of an orchestration: what its author's functions do to a graph.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <orchestration/calls.h>
#include <baton/graph.hpp>

#include "chip/orchestration/program.hpp"

namespace baton::orchestration {

/// Functions throw; their caller notes it with fail(), and calls no more.
class Run {
 public:
  Run(Graph& graph, const Program& program);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  /// Scopes that are still open end.
  ~Run();

  /// The one of the calling thread or fiber. Throws Error (invalid_argument) if it is in no orchestration.
  [[nodiscard]] static Run& current();

  PTO2TaskId submit(const BatonTaskRequest& asked, ChipTensor* outputs);
  void open_graph(const BatonTaskRequest& asked);
  void close_graph();
  [[nodiscard]] std::uint64_t get(const ChipTensor& tensor, std::span<const std::uint32_t> position);
  void set(const ChipTensor& tensor, std::span<const std::uint32_t> position, std::uint64_t bits);
  void open_scope(Edges edges, Place where);
  void close_scope();
  PTO2TaskId notification_wait(std::uint64_t counter, std::int32_t expected, ChipTensor& token, Place where);
  [[nodiscard]] Graph& graph() noexcept { return graph_; }

  /// The first failure counts.
  void fail(std::exception_ptr failure) noexcept {
    if (!failure_) failure_ = std::move(failure);
  }
  [[nodiscard]] bool failed() const noexcept { return failure_ != nullptr; }
  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  struct OpenScope {
    Graph::Scope scope;
    Edges edges;
    bool of_graph;
  };

  void check(const BatonTaskRequest& asked) const;
  void check_start(const BatonTaskRequest& asked) const;
  [[nodiscard]] const Kernel& kernel(std::int32_t id, BatonCoreType core) const;
  [[nodiscard]] TaskOptions options_of(const BatonTaskRequest& asked);
  [[nodiscard]] TaskId submit_kernels(const BatonTaskRequest& asked, std::span<const Argument> arguments,
                                      const TaskOptions& options);
  [[nodiscard]] Edges edges() const noexcept { return scopes_.empty() ? Edges::inferred : scopes_.back().edges; }

  Graph& graph_;
  const Program& program_;
  std::vector<OpenScope> scopes_;
  std::exception_ptr failure_;
};

/// The functions that libraries of orchestrations call.
extern const BatonOrchestrationTable kTable;

}  // namespace baton::orchestration
