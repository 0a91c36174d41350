// The edges between tasks of a node as events tell them: also to tasks that are complete, which need none.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/function_ref.hpp"
#include "chip/graph/task_id.hpp"

namespace baton::node {

/// Members of a group do not wait for each other. Where they touch the same memory, each hides those before it from
/// later tasks, which wait for all of them: WorkerState::depend() does the same with tasks that are not complete.
class NotedEdges {
 public:
  using Note = FunctionRef<void(graph::TaskId earlier)>;

  void add_group(graph::TaskId first, std::uint32_t size) {
    for (graph::TaskId id = first; id < first + size; ++id) groups_[id] = first;
    by_first_[first] = {size, false};
  }

  /// The first member of its group, as far as it is known; else the task.
  [[nodiscard]] graph::TaskId first_of_group(graph::TaskId task) const {
    const auto group = groups_.find(task);
    return group == groups_.end() ? task : group->second;
  }

  /// `task` was found to wait for `earlier`: notes each task that it waits for by that.
  void find(graph::TaskId task, graph::TaskId earlier, Note note) {
    const auto before = groups_.find(earlier);
    const auto mine = groups_.find(task);
    const bool in_group = mine != groups_.end();
    if (before == groups_.end() || !in_group || before->second != mine->second) {
      return for_each_member(earlier, [&](graph::TaskId one) {
        if (in_group) found_[task].push_back(one);
        note(one);
      });
    }
    by_first_[mine->second].is_entangled = true;
    const std::vector<graph::TaskId> found = found_[earlier];
    for (const graph::TaskId one : found) {
      found_[task].push_back(one);
      note(one);
    }
  }

  /// The task, or all members of its group if they hide each other.
  void for_each_member(graph::TaskId task, Note note) const {
    const auto group = groups_.find(task);
    if (group == groups_.end()) return note(task);
    const Group& members = by_first_.at(group->second);
    if (!members.is_entangled) return note(task);
    for (graph::TaskId id = group->second; id < group->second + members.size; ++id) note(id);
  }

  /// All runs have ended.
  void clear() {
    groups_.clear();
    by_first_.clear();
    found_.clear();
  }

 private:
  struct Group {
    std::uint32_t size = 0;
    bool is_entangled = false;
  };
  std::unordered_map<graph::TaskId, graph::TaskId> groups_;  // of each member: the first one
  std::unordered_map<graph::TaskId, Group> by_first_;        // by the first member
  std::unordered_map<graph::TaskId, std::vector<graph::TaskId>> found_;
};

}  // namespace baton::node
