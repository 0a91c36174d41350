#include "chip/graph/output_heap.hpp"

#include <algorithm>

#include "base/fail.hpp"

namespace baton::graph {

OutputHeap::OutputHeap(const Buffer& memory, std::uint64_t alignment, std::string option, Place where)
    : memory_(memory), option_(std::move(option)), scopes_(where), ring_(memory.bytes, alignment) {}

void OutputHeap::close_scope(ScopeId scope) {
  scopes_.close(scope);
  if (const std::size_t depth = scopes_.depth(); depth < members_.size()) {
    for (const HeapRing::BlockId block : members_[depth]) {
      Output& output = outputs_[block - ring_.oldest()];
      if (output.scope == scope) output.scope = 0;
    }
    members_[depth].clear();
  }
  reclaim();
}

void OutputHeap::enter(ScopeId scope, HeapRing::BlockId block) {
  const std::size_t depth = scopes_.depth_of(scope);
  if (members_.size() <= depth) members_.resize(depth + 1);
  members_[depth].push_back(block);
}

std::optional<Buffer> OutputHeap::try_allocate(std::uint64_t bytes, TaskId producer) {
  const auto block = ring_.try_allocate(bytes);
  if (!block) {
    const HeapRing::BlockId held = first_held();
    if (!ring_.fits_after(bytes, held)) fail_full(bytes, held);
    HeapRing::BlockId enough = ring_.oldest() + 1;
    while (!ring_.fits_after(bytes, enough)) ++enough;
    must_complete_ = 0;
    for (HeapRing::BlockId id = ring_.oldest(); id < enough; ++id) {
      must_complete_ = std::max(must_complete_, outputs_[id - ring_.oldest()].last_user);
    }
    return std::nullopt;
  }
  const ScopeId scope = scopes_.innermost();
  const ScopePlace place = scopes_.place_of(scope);
  outputs_.push_back({scope, place, producer});
  enter(scope, block->id);
  return Buffer{.address = memory_.address + block->offset,
                .bytes = bytes,
                .space = memory_.space,
                .id = block->id << kPlaceBits | place};
}

TaskId OutputHeap::must_complete() const { return must_complete_; }

bool OutputHeap::is_dead(const Buffer& output) const noexcept {
  const HeapRing::BlockId id = block_of(output);
  if (output.id == 0 || id >= ring_.next()) return false;
  return id < ring_.oldest() || outputs_[id - ring_.oldest()].scope == 0;
}

OutputHeap::Output& OutputHeap::alive(const Buffer& output, const char* action) {
  const HeapRing::BlockId id = block_of(output);
  if (id == 0 || id >= ring_.next()) {
    fail(Code::invalid_argument, "{} of a tensor that is not an output of this heap (number {}, {} bytes at {:#x})",
         action, output.id, output.bytes, output.address);
  }
  if (is_dead(output)) {
    const auto place = id < ring_.oldest() ? static_cast<ScopePlace>(output.id) : outputs_[id - ring_.oldest()].place;
    fail(Code::released,
         "{} of output {} ({} bytes) after its death: it was in {}, which has been closed; keep the output, or use it "
         "before the scope ends",
         action, id, output.bytes, scopes_.describe(place));
  }
  return outputs_[id - ring_.oldest()];
}

void OutputHeap::use(const Buffer& output, TaskId task) {
  Output& used = alive(output, "use");
  used.last_user = std::max(used.last_user, task);
}

void OutputHeap::keep(const Buffer& output) {
  Output& kept = alive(output, "keeping");
  kept.scope = scopes_.enclosing(kept.scope);
  kept.place = scopes_.place_of(kept.scope);
  enter(kept.scope, block_of(output));
}

void OutputHeap::forget_before(TaskId oldest_live) {
  oldest_live_ = std::max(oldest_live_, oldest_live);
  reclaim();
}

void OutputHeap::reclaim() {
  while (!outputs_.empty() && outputs_.front().scope == 0 && outputs_.front().last_user < oldest_live_) {
    ring_.free(ring_.oldest());
    outputs_.pop_front();
  }
}

HeapRing::BlockId OutputHeap::first_held() const noexcept {
  const auto held =
      std::find_if(outputs_.begin(), outputs_.end(), [](const Output& output) { return output.scope != 0; });
  return ring_.oldest() + static_cast<HeapRing::BlockId>(held - outputs_.begin());
}

void OutputHeap::fail_full(std::uint64_t bytes, HeapRing::BlockId held) const {
  const std::uint64_t sufficient = ring_.sufficient_capacity(bytes, held);
  if (held == ring_.next()) {
    fail(Situation::output_heap_full,
         "an output of {} bytes does not fit into a heap of {} bytes: set {} to at least {}", bytes,
         ring_.capacity_bytes(), option_, sufficient);
  }
  const Output& first = outputs_[held - ring_.oldest()];
  fail(
      Code::out_of_memory,
      "no room for an output of {} bytes in a heap of {} bytes, and waiting cannot help: {} bytes lie in or behind {}, "
      "which is still open; close scopes earlier, or set {} to at least {}",
      bytes, ring_.capacity_bytes(), ring_.bytes_from(held), scopes_.describe_open(first.scope), option_, sufficient);
}

}  // namespace baton::graph
