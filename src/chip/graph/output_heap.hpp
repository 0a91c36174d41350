// Output tensors that the runtime allocates: they live in a ring and die with their scope.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <baton/place.hpp>
#include <baton/tensor.hpp>

#include "chip/graph/heap_ring.hpp"
#include "chip/graph/scope_stack.hpp"
#include "chip/graph/task_id.hpp"

namespace baton::graph {

/// One thread. An output is dead when its scope is closed; its bytes come back when, besides, all tasks up to the last
/// that uses it are complete.
class OutputHeap {
 public:
  /// `memory` is what it hands out; `option` names the setting that its size comes from, for messages.
  OutputHeap(const Buffer& memory, std::uint64_t alignment, std::string option, Place where = Place::here());

  ScopeId open_scope(Place where = Place::here()) { return scopes_.open(where); }
  /// Throws Error (invalid_argument) unless `scope` is the innermost one.
  void close_scope(ScopeId scope);

  /// Memory in the innermost scope for an output of `producer`; nothing while the heap is full: then must_complete()
  /// says which task to wait for. Throws Error (out_of_memory) if waiting cannot help, with the scope that holds the
  /// memory and the size that would have sufficed.
  [[nodiscard]] std::optional<Buffer> try_allocate(std::uint64_t bytes, TaskId producer);
  /// After try_allocate() returned nothing: room comes with the completion of this task and all before it.
  [[nodiscard]] TaskId must_complete() const;

  /// `task` uses an output. Throws Error (released) if it is dead, with the scope it died with.
  void use(const Buffer& output, TaskId task);
  /// The output lives on in the scope that encloses its present one. Throws like use().
  void keep(const Buffer& output);
  [[nodiscard]] bool is_dead(const Buffer& output) const noexcept;

  /// All tasks before `oldest_live` are complete.
  void forget_before(TaskId oldest_live);

  [[nodiscard]] const ScopeStack& scopes() const noexcept { return scopes_; }
  [[nodiscard]] std::uint64_t bytes_in_use() const { return ring_.bytes_from(ring_.oldest()); }

 private:
  /// An output's number is its block's with the place of the scope it was made in, so that a message can name the
  /// place long after the output's death without a record of it.
  static constexpr int kPlaceBits = 16;
  struct Output {
    ScopeId scope;  // 0: dead
    ScopePlace place;
    TaskId last_user;
  };

  [[nodiscard]] static HeapRing::BlockId block_of(const Buffer& output) noexcept { return output.id >> kPlaceBits; }
  /// Throws Error (released) if it is dead, Error (invalid_argument) if it is not of this heap.
  [[nodiscard]] Output& alive(const Buffer& output, const char* action);
  void enter(ScopeId scope, HeapRing::BlockId block);
  void reclaim();
  /// The oldest block that stays whatever completes.
  [[nodiscard]] HeapRing::BlockId first_held() const noexcept;
  [[noreturn]] void fail_full(std::uint64_t bytes, HeapRing::BlockId held) const;

  Buffer memory_;
  std::string option_;
  ScopeStack scopes_;
  HeapRing ring_;
  std::deque<Output> outputs_;  // one per block of the ring
  /// Blocks by the depth of the scope they came into; those that were kept are also in the list of an outer one.
  std::vector<std::vector<HeapRing::BlockId>> members_;
  TaskId oldest_live_ = 1;
  TaskId must_complete_ = 0;
};

}  // namespace baton::graph
