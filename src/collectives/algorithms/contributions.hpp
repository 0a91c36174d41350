// What a rank makes of the contributions of all, once it has waited for them.
#pragma once

#include <vector>

#include "collectives/mover.hpp"
#include "collectives/work.hpp"

namespace baton::collectives {

/// Pointers to something of each rank, without an allocation for the usual numbers of them.
class Sources {
 public:
  explicit Sources(int size) : size_(static_cast<std::size_t>(size)) {
    if (size_ > kFew) many_.resize(size_);
  }
  [[nodiscard]] const std::byte*& operator[](int index) noexcept { return data()[static_cast<std::size_t>(index)]; }
  [[nodiscard]] std::span<const std::byte* const> all() noexcept { return {data(), size_}; }

 private:
  static constexpr std::size_t kFew = 64;
  [[nodiscard]] const std::byte** data() noexcept { return many_.empty() ? few_ : many_.data(); }
  std::size_t size_;
  const std::byte* few_[kFew];
  std::vector<const std::byte*> many_;
};

/// The elements from `offset` on in all contributions, reduced in the order of the ranks.
inline void reduce_contributions(Mover& mover, const Work& work, std::byte* to, std::size_t offset) {
  Sources sources(mover.size());
  for (int rank = 0; rank < mover.size(); ++rank) sources[rank] = mover.contribution(rank) + offset;
  mover.reduce(to, sources.all(), work.count, work.element, work.op, divisor_of(work, mover));
}

/// The block from `offset` on in each contribution, to the block of its rank in the output.
inline void gather_contributions(Mover& mover, const Work& work, std::size_t offset) {
  for (int rank = 0; rank < mover.size(); ++rank) {
    mover.copy(work.output.mine + static_cast<std::size_t>(rank) * work.output_stride,
               mover.contribution(rank) + offset, work.bytes());
  }
}

}  // namespace baton::collectives
