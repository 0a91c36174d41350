// Tree: a binomial tree over the ranks, counted from the root.
//
//   0 ─┬─ 1            the parent of a rank is its number without the lowest bit that is set
//      ├─ 2 ── 3
//      └─ 4 ─┬─ 5
//            └─ 6 ── 7
//
// Log2 P steps in each direction, N bytes in each step.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/work.hpp>

namespace baton::collectives {

/// In the outputs of all ranks.
template <class Mover>
class Tree {
 public:
  AICORE Tree(Mover& mover, const Work& work, int root) : mover_(mover), work_(work), root_(root) {}

  /// Reduces into the output of each rank what it and those below it have; the root has all.
  AICORE void collect() {
    for_each_child([&](int child) {
      mover_.wait_step(child, 1);
      std::byte* mine = work_.output.mine;
      combine_two(mover_, work_, mine, mine, mover_.at(work_.output, child), work_.count, 1);
    });
    if (place() == 0 && work_.op == ReduceOp::avg) {
      const std::byte* sum = work_.output.mine;
      mover_.combine(
          work_.output.mine, 1, [=](int) { return sum; }, work_.count, work_, divisor_of(work_, mover_));
    }
    advance();
  }

  /// Fetches the parent's output once it has made `steps` steps.
  AICORE void hand_out(std::uint64_t steps) {
    if (place() != 0) {
      mover_.wait_step(parent(), steps);
      mover_.copy(work_.output.mine, mover_.at(work_.output, parent()), work_.bytes());
    }
    advance();
  }

  AICORE void wait_for_children(std::uint64_t steps) {
    for_each_child([&](int child) { mover_.wait_step(child, steps); });
  }

 private:
  [[nodiscard]] AICORE int place() const { return around(mover_.rank(), -root_, mover_.size()); }
  [[nodiscard]] AICORE int parent() const { return rank_at(place() & (place() - 1)); }
  [[nodiscard]] AICORE int rank_at(int place) const { return (place + root_) % mover_.size(); }

  AICORE void advance() {
    mover_.step();
    if (place() != 0) mover_.tell(parent());
    for_each_child([&](int child) { mover_.tell(child); });
  }

  template <class Body>
  AICORE void for_each_child(const Body& body) {
    for (int bit = 1; bit < mover_.size() && (place() & bit) == 0; bit *= 2) {
      if (place() + bit < mover_.size()) body(rank_at(place() + bit));
    }
  }

  Mover& mover_;
  const Work& work_;
  int root_;
};

template <class Mover>
AICORE void broadcast_tree(Mover& mover, const Work& work) {
  Tree<Mover> tree(mover, work, work.root);
  tree.hand_out(1);
  tree.wait_for_children(1);
}

/// The parent may still read the partial result after this: a meeting has to come before the next use.
template <class Mover>
AICORE void reduce_tree(Mover& mover, const Work& work) {
  mover.copy(work.output.mine, work.input.mine, work.bytes());
  Tree<Mover>(mover, work, work.root).collect();
}

template <class Mover>
AICORE void allreduce_tree(Mover& mover, const Work& work) {
  mover.copy(work.output.mine, work.input.mine, work.bytes());
  Tree<Mover> tree(mover, work, 0);
  tree.collect();
  tree.hand_out(2);
  tree.wait_for_children(2);
}

}  // namespace baton::collectives
