#include "check/clock.hpp"

namespace baton::check {

bool Clock::raise(Actor actor, Time time) {
  if ((*this)[actor] >= time) return false;
  const std::size_t index = actor / kBlock;
  if (index >= blocks_.size()) blocks_.resize(index + 1);
  auto block = blocks_[index] ? std::make_shared<Block>(*blocks_[index]) : std::make_shared<Block>();
  (*block)[actor % kBlock] = time;
  blocks_[index] = std::move(block);
  return true;
}

bool Clock::join(const Clock& other) {
  bool grew = false;
  if (other.blocks_.size() > blocks_.size()) blocks_.resize(other.blocks_.size());
  for (std::size_t index = 0; index < other.blocks_.size(); ++index) {
    const auto& theirs = other.blocks_[index];
    auto& mine = blocks_[index];
    if (!theirs || mine == theirs) continue;
    if (!mine) {
      mine = theirs;
      grew = true;
      continue;
    }
    Block joined;
    for (std::size_t i = 0; i < kBlock; ++i) joined[i] = std::max((*mine)[i], (*theirs)[i]);
    if (joined == *mine) continue;
    grew = true;
    // Who has seen all of it shares it.
    mine = joined == *theirs ? theirs : std::make_shared<const Block>(joined);
  }
  return grew;
}

void Clock::meet(const Clock& other) {
  if (other.blocks_.size() < blocks_.size()) blocks_.resize(other.blocks_.size());
  for (std::size_t index = 0; index < blocks_.size(); ++index) {
    const auto& theirs = other.blocks_[index];
    auto& mine = blocks_[index];
    if (mine == theirs || !mine) continue;
    if (!theirs) {
      mine = nullptr;
      continue;
    }
    auto common = std::make_shared<Block>();
    for (std::size_t i = 0; i < kBlock; ++i) (*common)[i] = std::min((*mine)[i], (*theirs)[i]);
    mine = std::move(common);
  }
}

bool Clock::covers(const Clock& other) const noexcept {
  for (std::size_t index = 0; index < other.blocks_.size(); ++index) {
    const Block* theirs = other.blocks_[index].get();
    const Block* mine = block_at(index);
    if (theirs == nullptr || mine == theirs) continue;
    for (std::size_t i = 0; i < kBlock; ++i) {
      if ((*theirs)[i] > (mine == nullptr ? 0 : (*mine)[i])) return false;
    }
  }
  return true;
}

}  // namespace baton::check
