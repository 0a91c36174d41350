// baton-chip: the program of chips whose node is no C++ program of ours, such as Python.
#include <cstdio>

#include <baton/worker.hpp>

int main() {
  std::fputs("baton-chip is started by a Worker as one of its chips, and does nothing by itself.\n", stderr);
  return 2;
}
