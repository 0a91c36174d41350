// A sum over all ranks that knows no hosts: in a ring, 2 (ranks - 1) messages in a row. What is gained by knowing them.
#pragma once

#include <baton/baton.hpp>

#include <algorithm>
#include <span>
#include <stdexcept>

namespace bench {

class Ring {
 public:
  Ring(baton::Domain& domain, std::size_t bytes)
      : rank_(domain.rank()),
        size_(domain.size()),
        count_(std::max<std::size_t>(bytes / sizeof(float), 1)),
        data_(domain.window<float>("bench.ring", count_)),
        coming_(domain.window<float>("bench.ring.coming", count_)),
        told_(domain.signals("bench.ring.told", 1)) {}

  /// The elements of each rank become the sums of all.
  void allreduce() {
    for (int step = 0; step + 1 < size_; ++step) {
      pass_on(coming_, rank_ - step);
      const Piece piece = piece_of(rank_ - step - 1);
      for (std::size_t i = piece.first; i < piece.first + piece.count; ++i) data_[i] += coming_[i];
    }
    for (int step = 0; step + 1 < size_; ++step) pass_on(data_, rank_ + 1 - step);
  }

  /// Throws if the sums are wrong.
  void check() {
    for (float& element : data_) element = static_cast<float>(rank_ + 1);
    allreduce();
    const auto sum = static_cast<float>(size_ * (size_ + 1) / 2);
    if (!std::ranges::all_of(data_, [&](float element) { return element == sum; }))
      throw std::runtime_error("a sum of the ring is wrong");
    for (float& element : data_) element = 0;
  }

 private:
  struct Piece {
    std::size_t first;
    std::size_t count;
  };
  [[nodiscard]] Piece piece_of(int index) const {
    const auto at = [&](int i) { return count_ * static_cast<std::size_t>(i) / static_cast<std::size_t>(size_); };
    const int i = (index + size_) % size_;
    return {at(i), at(i + 1) - at(i)};
  }
  /// To the next rank; and waits for the one before to have done the same.
  void pass_on(baton::Window<float>& to, int index) {
    const Piece piece = piece_of(index);
    to.put_signal((rank_ + 1) % size_, piece.first, std::span<const float>(data_.data() + piece.first, piece.count),
                  told_, 0);
    told_.wait(0, baton::WaitCmp::ge, ++steps_);
  }

  int rank_;
  int size_;
  std::size_t count_;
  baton::Window<float> data_;
  baton::Window<float> coming_;
  baton::Signals told_;
  std::int32_t steps_ = 0;
};

}  // namespace bench
