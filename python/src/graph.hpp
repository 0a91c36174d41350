// The graph that an orchestration in Python submits to.
#pragma once

#include <memory>
#include <vector>

#include <baton/graph.hpp>

#include "chip_host.hpp"

namespace baton::python {

/// Valid until the orchestration returns.
class GraphHandle {
 public:
  GraphHandle(ChipHost& host, Graph& graph, LentGraph& lent) noexcept : host_(&host), graph_(&graph), lent_(&lent) {}

  GraphHandle(const GraphHandle&) = delete;
  GraphHandle& operator=(const GraphHandle&) = delete;

  [[nodiscard]] Graph& graph() const;
  [[nodiscard]] ChipHost& host() const;
  [[nodiscard]] LentGraph& lent() const;

  std::uint64_t open(Graph::Scope scope);
  void close(std::uint64_t scope);
  /// The orchestration is over: scopes that are still open end.
  void finish();
  /// Whether an output of this size certainly finds room: together with those before it in this run, even if none
  /// of them is given back.
  [[nodiscard]] bool has_room(std::int64_t bytes);

 private:
  using Scopes = std::vector<std::unique_ptr<Graph::Scope>>;
  /// The innermost first.
  static void end_scopes(Scopes& scopes);

  ChipHost* host_;
  Graph* graph_;
  LentGraph* lent_;
  Scopes scopes_;
  std::uint64_t given_bytes_ = 0;
};

}  // namespace baton::python
