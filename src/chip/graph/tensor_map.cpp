#include "chip/graph/tensor_map.hpp"

#include <algorithm>

namespace baton::graph {

std::uint32_t TensorMap::insert(const View& view, std::uint32_t hash) {
  sweep(kSweepPerInsertion);
  const std::uint64_t end = view.end();
  std::uint32_t allocation = allocations_.find(view.space, view.start, end);
  if (allocation == Allocations::kNone) {
    if (admit_ && view.space == MemorySpace::host) admit_(view);
    allocation = claim(view.space, std::min(view.start, view.buffer_begin), std::max(end, view.buffer_end));
  }
  const std::uint32_t number = regions_.create(view);
  regions_[number].hash = hash;
  by_view_.insert(hash, number);
  index_.insert(number, allocation, [&](std::uint32_t other) {
    if (overlap(view, regions_[other].view) != Overlap::none) regions_.link(number, other);
  });
  return number;
}

std::uint32_t TensorMap::claim(MemorySpace space, std::uint64_t begin, std::uint64_t end) {
  // Memory that is used again in other pieces must not grow into one allocation only because nobody has cleaned up.
  for (const std::uint32_t allocation : allocations_.touching(space, begin, end)) {
    for (const std::uint32_t number : index_.all_of(allocation)) {
      if (regions_[number].newest() < oldest_live_) release(number);
    }
  }
  std::vector<std::uint32_t> absorbed;
  const std::uint32_t result = allocations_.claim(space, begin, end, absorbed);
  index_.rebuild(result);
  for (const std::uint32_t allocation : absorbed) {
    for (const std::uint32_t number : index_.all_of(allocation)) {
      index_.remove(number);
      // What lay in different allocations does not overlap.
      index_.insert(number, result, [](std::uint32_t) {});
    }
    allocations_.drop(allocation);
  }
  return result;
}

void TensorMap::release(std::uint32_t number) {
  const std::uint32_t allocation = regions_[number].allocation;
  regions_.unlink_all(number);
  index_.remove(number);
  by_view_.erase(regions_[number].hash, number);
  regions_.destroy(number);
  drop_if_unused(allocation);
}

void TensorMap::drop_if_unused(std::uint32_t allocation) {
  const Allocation& home = allocations_[allocation];
  if (home.regions == 0 && home.registrations == 0) allocations_.drop(allocation);
}

// A region is released at the second look after its tasks were complete, if it was not used in between.
void TensorMap::sweep(int slots) {
  if (regions_.size() < kept_regions_) return;
  for (; slots > 0; --slots) {
    if (++sweep_at_ >= regions_.slots()) sweep_at_ = 0;
    Region& region = regions_[sweep_at_];
    if (region.newest() >= oldest_live_ || !regions_.in_use(sweep_at_)) continue;
    if (region.idle++ > 0) release(sweep_at_);
  }
}

void TensorMap::forget_before(TaskId oldest_live) {
  oldest_live_ = std::max(oldest_live_, oldest_live);
  if (regions_.size() > kWorthSweeping) sweep(1);
}

AllocationId TensorMap::add_allocation(const Buffer& range, std::string_view name) {
  const AllocationId id = registrations_.add(range, name);
  const std::uint32_t allocation = claim(range.space, range.address, range.address + range.bytes);
  ++allocations_[allocation].registrations;
  return id;
}

void TensorMap::invalidate(AllocationId id) {
  const Buffer range = registrations_.remove(id).range;
  const std::uint64_t end = range.address + range.bytes;
  const std::uint32_t allocation = allocations_.find(range.space, range.address, end);
  for (const std::uint32_t number : index_.all_of(allocation)) {
    const View& view = regions_[number].view;
    if (view.start >= range.address && view.end() <= end) release(number);
  }
  --allocations_[allocation].registrations;
  drop_if_unused(allocation);
}

}  // namespace baton::graph
