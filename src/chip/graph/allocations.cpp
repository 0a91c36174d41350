#include "chip/graph/allocations.hpp"

#include <algorithm>

#include "base/fail.hpp"

namespace baton::graph {

std::uint32_t Allocations::search(MemorySpace space, std::uint64_t begin, std::uint64_t end) noexcept {
  auto next = by_address_.upper_bound({space, begin});
  if (next == by_address_.begin()) return kNone;
  const std::uint32_t number = std::prev(next)->second;
  if (!all_[number].contains(space, begin, end)) return kNone;
  return last_found_ = number;
}

Allocations::ByAddress::iterator Allocations::first_behind(MemorySpace space, std::uint64_t begin) {
  auto at = by_address_.upper_bound({space, begin});
  if (at != by_address_.begin()) {
    const Allocation& before = all_[std::prev(at)->second];
    if (before.space == space && before.end > begin) --at;
  }
  return at;
}

std::vector<std::uint32_t> Allocations::touching(MemorySpace space, std::uint64_t begin, std::uint64_t end) {
  std::vector<std::uint32_t> result;
  for (auto at = first_behind(space, begin); at != by_address_.end(); ++at) {
    if (at->first.first != space || at->first.second >= end) break;
    result.push_back(at->second);
  }
  return result;
}

std::uint32_t Allocations::claim(MemorySpace space, std::uint64_t begin, std::uint64_t end,
                                 std::vector<std::uint32_t>& absorbed) {
  auto at = first_behind(space, begin);
  std::uint32_t result = kNone;
  while (at != by_address_.end() && at->first.first == space && at->first.second < end) {
    const std::uint32_t number = at->second;
    at = by_address_.erase(at);
    begin = std::min(begin, all_[number].begin);
    end = std::max(end, all_[number].end);
    // The one with most regions stays, so that few have to move.
    if (result == kNone) {
      result = number;
    } else if (all_[number].regions > all_[result].regions) {
      absorbed.push_back(std::exchange(result, number));
    } else {
      absorbed.push_back(number);
    }
  }
  if (result == kNone) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(all_.size()));
      all_.emplace_back();
      positions_.push_back(by_address_.end());
    }
    result = free_.back();
    free_.pop_back();
  }
  Allocation& allocation = all_[result];
  allocation.space = space;
  allocation.begin = begin;
  allocation.end = end;
  for (const std::uint32_t number : absorbed) {
    allocation.registrations += std::exchange(all_[number].registrations, 0U);
    positions_[number] = by_address_.end();
  }
  positions_[result] = by_address_.emplace_hint(at, Key{space, begin}, result);
  last_found_ = kNone;
  return result;
}

void Allocations::drop(std::uint32_t number) {
  Allocation& allocation = all_[number];
  if (positions_[number] != by_address_.end()) by_address_.erase(positions_[number]);
  positions_[number] = by_address_.end();
  allocation.begin = allocation.end = 0;
  allocation.levels.clear();
  allocation.review_at = 0;
  allocation.strides = {};
  free_.push_back(number);
  last_found_ = kNone;
}

AllocationId Registrations::add(const Buffer& range, std::string_view name) {
  const std::uint64_t end = range.address + range.bytes;
  const auto refuse = [&](const Registration& other) {
    fail(Code::invalid_argument,
         "memory \"{}\" ({} bytes at {:#x}) overlaps \"{}\" ({} bytes at {:#x}), which is registered", name,
         range.bytes, range.address, other.name, other.range.bytes, other.range.address);
  };
  if (range.bytes == 0) fail(Code::invalid_argument, "memory \"{}\" at {:#x} has no bytes", name, range.address);
  const auto next = by_address_.lower_bound({range.space, range.address});
  if (next != by_address_.end() && next->first.first == range.space && next->first.second < end) {
    refuse(by_id_.at(next->second));
  }
  if (next != by_address_.begin()) {
    const Registration& before = by_id_.at(std::prev(next)->second);
    const bool reaches = before.range.address + before.range.bytes > range.address;
    if (before.range.space == range.space && reaches) refuse(before);
  }
  const AllocationId id = ++last_id_;
  by_id_.emplace(id, Registration{range, std::string(name)});
  by_address_.emplace(std::pair{range.space, range.address}, id);
  return id;
}

Registrations::Registration Registrations::remove(AllocationId id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) fail(Code::released, "allocation {} is not registered, or not any more", id);
  Registration result = std::move(found->second);
  by_id_.erase(found);
  by_address_.erase({result.range.space, result.range.address});
  return result;
}

}  // namespace baton::graph
