// A relay: every rank hands a baton to the next, until it is back where it started.
#include <baton/baton.hpp>
#include <iostream>

int main() {
  auto me = baton::join();                  // rank and size come from `baton run`; alone: 0 of 1
  auto baton = me.window<int>("baton", 1);  // one int on every rank
  auto handed = me.signals("handed", 1);    // counts how often the baton was handed to this rank
  const int next = (me.rank() + 1) % me.size();

  if (me.rank() == 0) {
    baton.put_signal(next, 0, 1, handed, 0);  // the bytes first, then the signal
    handed.wait(0, baton::WaitCmp::ge, 1);
    std::cout << "rank 0: the baton came back after " << baton[0] << " of " << me.size() << " legs\n";
  } else {
    handed.wait(0, baton::WaitCmp::ge, 1);
    std::cout << "rank " << me.rank() << ": leg " << baton[0] << " was run by rank " << me.rank() - 1 << '\n';
    baton.put_signal(next, 0, baton[0] + 1, handed, 0);
  }
}
