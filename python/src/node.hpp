// A node, its memory, and the orchestration that Python writes for it.
#pragma once

#include <memory>
#include <unordered_set>
#include <vector>

#include <baton/own_process.hpp>
#include <baton/worker.hpp>

#include "array.hpp"
#include "lent.hpp"

namespace baton::python {

/// A worker and what Python needs to know about it. With the GIL.
class Node : public std::enable_shared_from_this<Node> {
 public:
  explicit Node(std::shared_ptr<Worker> worker) : worker_(std::move(worker)) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();

  [[nodiscard]] Worker& get() const { return *shared(); }
  /// For calls on other threads. Throws Error once it is closed, and in a forked child.
  [[nodiscard]] const std::shared_ptr<Worker>& shared() const;
  /// Ends the chips; may take as long as runs do.
  void close();
  /// A run goes on that nobody waits for: the end of the object does not, either.
  void abandon() noexcept {
    abandoned_ = true;
    note_abandoned();
  }
  [[nodiscard]] bool abandoned() const noexcept { return abandoned_; }
  [[nodiscard]] const OwnProcess& process() const noexcept { return process_; }
  [[nodiscard]] bool closed() const noexcept { return worker_ == nullptr; }

  [[nodiscard]] Array create_buffer(DType dtype, const std::vector<std::int64_t>& shape, const std::string& name,
                                    int chip);
  void free(const Array& array);

 private:
  OwnProcess process_;
  std::shared_ptr<Worker> worker_;
  bool abandoned_ = false;
};

/// A domain of an orchestration, and its members.
struct NodeDomain {
  std::shared_ptr<DomainHandle> handle;
};

/// Valid until the orchestration returns.
class OrchestrationView {
 public:
  OrchestrationView(std::shared_ptr<Node> node, Orchestration& orchestration, Lent<Orchestration>& lent)
      : node_(std::move(node)), orchestration_(&orchestration), lent_(&lent) {}
  OrchestrationView(const OrchestrationView&) = delete;
  OrchestrationView& operator=(const OrchestrationView&) = delete;

  [[nodiscard]] Orchestration& get() const;
  [[nodiscard]] Lent<Orchestration>& lent() const;
  [[nodiscard]] const std::shared_ptr<Node>& node() const noexcept { return node_; }
  /// Tasks use the memory until the run has ended.
  void hold(const Array& array) {
    if (array.memory) held_.insert(array.memory);
  }
  std::size_t open_scope();
  void close_scope(std::size_t depth);
  void finish();

 private:
  std::shared_ptr<Node> node_;
  Orchestration* orchestration_;
  Lent<Orchestration>* lent_;
  std::vector<std::unique_ptr<Orchestration::Scope>> scopes_;
  std::unordered_set<std::shared_ptr<Memory>> held_;
};

void bind_orchestration(nb::module_& module);

}  // namespace baton::python
