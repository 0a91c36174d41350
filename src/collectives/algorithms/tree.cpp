// Tree: a binomial tree over the ranks, counted from the root.
//
//   0 ─┬─ 1            the parent of a rank is its number without the lowest bit that is set
//      ├─ 2 ── 3
//      └─ 4 ─┬─ 5
//            └─ 6 ── 7
//
// Log2 P steps in each direction, N bytes in each step.
#include "collectives/algorithms/algorithms.hpp"

namespace baton::collectives {
namespace {

class Tree {
 public:
  Tree(Mover& mover, const Work& work, int root) : mover_(mover), work_(work), root_(root) {}

  /// Reduces into the output of each rank what it and those below it have; the root has all.
  void collect() {
    for_each_child([&](int child) {
      mover_.wait_step(child, 1);
      std::byte* mine = work_.output.mine;
      const std::byte* const both[] = {mine, work_.output.of(child)};
      mover_.reduce(mine, both, work_.count, work_.element, work_.op, 1);
    });
    if (place() == 0 && work_.op == ReduceOp::avg) {
      const std::byte* const sum[] = {work_.output.mine};
      mover_.reduce(work_.output.mine, sum, work_.count, work_.element, work_.op, divisor_of(work_, mover_));
    }
    mover_.step();
  }

  /// Fetches the parent's output once it has made `steps` steps.
  void hand_out(std::uint64_t steps) {
    if (place() != 0) {
      mover_.wait_step(parent(), steps);
      mover_.copy(work_.output.mine, work_.output.of(parent()), work_.bytes());
    }
    mover_.step();
  }

  void wait_for_children(std::uint64_t steps) {
    for_each_child([&](int child) { mover_.wait_step(child, steps); });
  }

  [[nodiscard]] int place() const { return (mover_.rank() - root_ + mover_.size()) % mover_.size(); }
  [[nodiscard]] int parent() const { return rank_at(place() & (place() - 1)); }

 private:
  [[nodiscard]] int rank_at(int place) const { return (place + root_) % mover_.size(); }

  template <class Body>
  void for_each_child(Body&& body) {
    for (int bit = 1; bit < mover_.size() && (place() & bit) == 0; bit *= 2) {
      if (place() + bit < mover_.size()) body(rank_at(place() + bit));
    }
  }

  Mover& mover_;
  const Work& work_;
  int root_;
};

}  // namespace

void broadcast_tree(Mover& mover, const Work& work) {
  Tree tree(mover, work, work.root);
  tree.hand_out(1);
  tree.wait_for_children(1);
}

void reduce_tree(Mover& mover, const Work& work) {
  mover.copy(work.output.mine, work.input.mine, work.bytes());
  Tree tree(mover, work, work.root);
  // The parent may still read the partial result after this: it is always staged.
  tree.collect();
}

void allreduce_tree(Mover& mover, const Work& work) {
  mover.copy(work.output.mine, work.input.mine, work.bytes());
  Tree tree(mover, work, 0);
  tree.collect();
  tree.hand_out(2);
  tree.wait_for_children(2);
}

}  // namespace baton::collectives
