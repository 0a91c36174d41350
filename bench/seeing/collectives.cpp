// Every collective a number of times: as many calls with a check as without one.
#include <cstdio>
#include <exception>
#include <string>

#include <baton/baton.hpp>

namespace {

void make_calls(baton::Domain& me, std::size_t count, int rounds) {
  const auto ranks = static_cast<std::size_t>(me.size());
  const auto x = me.window<float>("x", count * ranks);
  const auto y = me.window<float>("y", count * ranks);
  const auto block = [&](const baton::Window<float>& window) {
    return baton::Data(window, window.data(), count, baton::Element::float32);
  };
  for (int round = 0; round < rounds; ++round) {
    baton::allreduce(me, block(x));
    baton::broadcast(me, block(x), 0);
    baton::reduce(me, block(x), block(y), 0);
    baton::allgather(me, block(x), y);
    baton::reduce_scatter(me, y, block(x));
    baton::gather(me, block(x), y, 0);
    baton::scatter(me, y, block(x), 0);
    baton::all_to_all(me, x, y);
  }
  me.barrier();
}

}  // namespace

/// seeing_collectives ROUNDS
int main(int argc, char** argv) {
  try {
    auto me = baton::join();
    for (const std::size_t count : {256, 16'384}) make_calls(me, count, argc > 1 ? std::stoi(argv[1]) : 1);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
