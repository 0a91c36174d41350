// Tensors to edges: finds, for each access of a task, the earlier tasks that must complete first.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "chip/graph/allocations.hpp"
#include "chip/graph/index_table.hpp"
#include "chip/graph/overlap.hpp"
#include "chip/graph/region_store.hpp"
#include "chip/graph/spatial_index.hpp"
#include "chip/graph/task_id.hpp"

namespace baton::graph {

/// For one submitting thread. Tasks are recorded in the order of their numbers.
///
/// Each view that occurs has a region: who wrote it last, who has read it since, and which other regions overlap it.
/// The overlaps are found once, when a view is first seen. Regions whose tasks are complete are reclaimed while others
/// are recorded, so memory follows the number of views of tasks that are not complete.
class TensorMap {
 public:
  /// Regions, 32 MiB of them, that are kept although their tasks are complete: programs use the same views again and
  /// again, and a known one costs a tenth of a new one.
  static constexpr std::size_t kKeptRegions = 131072;

  explicit TensorMap(std::size_t kept_regions = kKeptRegions) : kept_regions_(kept_regions) {}
  /// `admit` is asked about views of memory that nobody has named and no view was seen of yet; it throws if there is no
  /// such memory.
  explicit TensorMap(std::function<void(const View&)> admit) : TensorMap() { admit_ = std::move(admit); }
  TensorMap(const TensorMap&) = delete;
  TensorMap& operator=(const TensorMap&) = delete;

  /// Records that `task` accesses `view`. Calls `found(earlier)` for every earlier task that must complete first and
  /// for which `live(earlier)` holds, except those that another found task waits for itself: the reader of a region
  /// waits for its writer, so a later writer is told the readers only. May find a task twice. Neither function may use
  /// this map.
  template <class Live, class Found>
  void record(const View& view, Use use, TaskId task, Live&& live, Found&& found) {
    Region& region = region_of(view);
    region.idle = 0;
    const auto need = [&](TaskId earlier) {
      if (earlier >= oldest_live_ && earlier != task && live(earlier)) found(earlier);
    };
    if (use == Use::read) {
      need(region.last_writer);
      for_neighbours(region, [&](Region& neighbour, const Link&) { need(neighbour.last_writer); });
      // A task that must wait for this one because it wrote need not be told that it reads, too.
      if (region.newest() == task) return;
      regions_.add_reader(region, task, [&](TaskId reader) { return reader < oldest_live_ || !live(reader); });
      return;
    }
    need_all(region, need);
    for_neighbours(region, [&](Region& neighbour, const Link& link) {
      need_all(neighbour, need);
      // A task that touches it from now on meets this region, and waits for this task at least.
      if (link.covered != 0) neighbour.forget_history();
    });
    region.last_writer = task;
    RegionStore::clear_readers(region);
  }

  /// Finds what record() would find for an access from outside, and records nothing.
  template <class Live, class Found>
  void query(const View& view, Use use, Live&& live, Found&& found) {
    Region& region = region_of(view);
    const auto need = [&](TaskId earlier) {
      if (earlier >= oldest_live_ && live(earlier)) found(earlier);
    };
    const auto look = [&](const Region& at) {
      if (use == Use::read) {
        need(at.last_writer);
      } else {
        need_all(at, need);
      }
    };
    look(region);
    for_neighbours(region, [&](Region& neighbour, const Link&) { look(neighbour); });
  }

  /// Instead of record(), for a task that will be complete before the next one is recorded: throws what that would
  /// throw.
  void admit(const Tensor& tensor) {
    const Buffer& buffer = tensor.buffer();
    if (allocations_.find(buffer.space, buffer.address, buffer.address + buffer.bytes) == Allocations::kNone)
      static_cast<void>(region_of(view_of(tensor)));
  }

  /// All tasks before `oldest_live` are complete. Never goes back.
  void forget_before(TaskId oldest_live);

  /// Names memory, so that all views of it are indexed together. Throws Error (invalid_argument) if it overlaps other
  /// named memory.
  AllocationId add_allocation(const Buffer& range, std::string_view name);
  /// The memory is gone: accesses to it are forgotten. Throws Error (released) if it was invalidated before.
  void invalidate(AllocationId id);

  [[nodiscard]] std::size_t region_count() const noexcept { return regions_.size(); }
  [[nodiscard]] std::size_t allocation_count() const noexcept { return allocations_.size(); }

 private:
  /// A region that is met so often without being used after its tasks were complete is reclaimed.
  static constexpr std::uint32_t kIdleMeetings = 8;
  /// Regions that are looked at for reclaiming when a new one is made: enough to keep up with the makers.
  static constexpr int kSweepPerInsertion = 6;
  /// With fewer regions, reclaiming is left to the insertion of new ones.
  static constexpr std::size_t kWorthSweeping = 4096;

  static constexpr std::uint32_t kRow = 1U << IndexTable::kRowBits;

  [[nodiscard]] Region& region_of(const View& view) {
    const std::uint32_t hash = view.hash();
    std::uint32_t number = by_view_.find(hash, [&](std::uint32_t at) { return regions_[at].view.same_bytes(view); });
    if (hash - last_hash_ == 1) prefetch_further(view, hash);
    last_hash_ = hash;
    if (number == IndexTable::kNone) [[unlikely]]
      number = insert(view, hash);
    return regions_[number];
  }

  /// What comes next while a program walks through memory.
  void prefetch_further(const View& view, std::uint32_t hash) const {
    const std::uint32_t next = by_view_.further(hash, 2);
    if (next != IndexTable::kNone) __builtin_prefetch(&regions_[next], 1);
    if (hash % kRow == kRow / 2) by_view_.prefetch(view.hash_further(1));
  }

  template <class Need>
  static void need_all(const Region& region, Need&& need) {
    // Each reader waits for the last writer.
    if (region.reader_count == 0) need(region.last_writer);
    for (std::uint32_t i = 0; i < region.reader_count; ++i) need(region.readers[i]);
  }

  template <class Action>
  void for_neighbours(Region& region, Action&& action) {
    // From the end, because releasing one moves the last link into its place.
    for (std::uint32_t i = region.link_count; i-- > 0;) {
      const Link link = region.links[i];
      Region& neighbour = regions_[link.region];
      if (neighbour.newest() >= oldest_live_) {
        action(neighbour, link);
      } else if (++neighbour.idle > kIdleMeetings) {
        release(link.region);
      }
    }
  }

  [[nodiscard]] std::uint32_t insert(const View& view, std::uint32_t hash);
  [[nodiscard]] std::uint32_t claim(MemorySpace space, std::uint64_t begin, std::uint64_t end);
  void release(std::uint32_t number);
  void drop_if_unused(std::uint32_t allocation);
  void sweep(int slots);

  std::size_t kept_regions_;
  std::function<void(const View&)> admit_;
  RegionStore regions_;
  Allocations allocations_;
  Registrations registrations_;
  SpatialIndex index_{regions_, allocations_};
  IndexTable by_view_;
  TaskId oldest_live_ = 1;
  std::uint32_t last_hash_ = 0;
  std::uint32_t sweep_at_ = 0;
};

}  // namespace baton::graph
