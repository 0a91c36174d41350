#include "check/clock.hpp"

namespace baton::check {
namespace {

std::shared_ptr<Clock::Block> make_block(const Clock::Block& from = {}) {
  return std::allocate_shared<Clock::Block>(Recycling<Clock::Block>(), from);
}

}  // namespace

bool Clock::raise(Actor actor, Time time) {
  const std::size_t index = actor / kBlock;
  auto at = std::ranges::lower_bound(parts_, index, {}, &Part::index);
  const bool is_there = at != parts_.end() && at->index == index;
  if (is_there && (*at->block)[actor % kBlock] >= time) return false;
  if (is_there && at->block.use_count() == 1) {
    (*at->block)[actor % kBlock] = time;
    return true;
  }
  auto block = is_there ? make_block(*at->block) : make_block();
  (*block)[actor % kBlock] = time;
  if (!is_there) at = parts_.insert(at, {index, nullptr});
  at->block = std::move(block);
  return true;
}

bool Clock::join(const Clock& other) {
  if (parts_.empty()) {
    parts_ = other.parts_;
    return !parts_.empty();
  }
  bool grew = false;
  Parts added;
  auto mine = parts_.begin();
  for (const Part& theirs : other.parts_) {
    mine = std::lower_bound(mine, parts_.end(), theirs.index,
                            [](const Part& part, std::size_t index) { return part.index < index; });
    if (mine == parts_.end() || mine->index != theirs.index) {
      added.push_back(theirs);
      continue;
    }
    if (mine->block == theirs.block) continue;
    Block joined;
    for (std::size_t i = 0; i < kBlock; ++i) joined[i] = std::max((*mine->block)[i], (*theirs.block)[i]);
    if (joined == *mine->block) continue;
    grew = true;
    // A clock that has seen all of it shares it.
    mine->block = joined == *theirs.block ? theirs.block : make_block(joined);
  }
  if (added.empty()) return grew;
  const auto middle = static_cast<std::ptrdiff_t>(parts_.size());
  parts_.insert(parts_.end(), added.begin(), added.end());
  std::ranges::inplace_merge(parts_, parts_.begin() + middle, {}, &Part::index);
  return true;
}

void Clock::meet(const Clock& other) {
  Parts common;
  auto theirs = other.parts_.begin();
  for (Part& mine : parts_) {
    theirs = std::lower_bound(theirs, other.parts_.end(), mine.index,
                              [](const Part& part, std::size_t index) { return part.index < index; });
    if (theirs == other.parts_.end() || theirs->index != mine.index) continue;
    if (mine.block != theirs->block) {
      auto least = make_block();
      for (std::size_t i = 0; i < kBlock; ++i) (*least)[i] = std::min((*mine.block)[i], (*theirs->block)[i]);
      mine.block = std::move(least);
    }
    common.push_back(std::move(mine));
  }
  parts_ = std::move(common);
}

bool Clock::covers(const Clock& other) const noexcept {
  auto mine = parts_.begin();
  for (const Part& theirs : other.parts_) {
    mine = std::lower_bound(mine, parts_.end(), theirs.index,
                            [](const Part& part, std::size_t index) { return part.index < index; });
    if (mine == parts_.end() || mine->index != theirs.index) {
      // All zero, which a meet may leave of a block.
      if (*theirs.block != Block{}) return false;
      continue;
    }
    if (mine->block == theirs.block) continue;
    for (std::size_t i = 0; i < kBlock; ++i) {
      if ((*theirs.block)[i] > (*mine->block)[i]) return false;
    }
  }
  return true;
}

}  // namespace baton::check
