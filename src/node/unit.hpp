// A task of a node, from its submission until it is complete.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <baton/place.hpp>

#include "chip/graph/task_id.hpp"
#include "node/run_state.hpp"
#include "node/sub_workers.hpp"

namespace baton::node {

/// Where host functions run, as opposed to chips.
inline constexpr int kHost = -1;
/// The callable of work that is not a user's.
inline constexpr std::uint32_t kNoCallable = UINT32_MAX;

struct Unit {
  enum class Phase : std::uint8_t { waiting, sent, done };

  graph::TaskId id = 0;
  int chip = kHost;
  Phase phase = Phase::waiting;
  /// Members of its group touch the same memory: a task that waits for one waits for all.
  bool entangled = false;
  std::uint32_t callable = kNoCallable;
  /// Tasks elsewhere that must complete first. Those of the same chip come first by their order.
  std::uint32_t unmet = 0;
  /// Of a group: its first member, and how many there are.
  std::uint32_t group_size = 1;
  graph::TaskId group_first = 0;
  RunState* run = nullptr;  // null: work of the node itself
  Place where;
  std::vector<graph::TaskId> dependents;
  /// Of a member of a group: all that it was found to wait for.
  std::vector<graph::TaskId> found;
  /// The record to send, while it waits.
  std::vector<std::byte> message;
  std::unique_ptr<SubTask> sub;
  /// Of a wait for a notification: the chip that watches the signal, and the domain.
  int watcher = kHost;
  std::uint64_t domain = 0;
};

}  // namespace baton::node
