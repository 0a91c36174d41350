// An orchestration in a library, for the tests of the Python package.
#include <baton/orchestration.hpp>

#include <baton_kernel.hpp>

BATON_KERNEL(times, In<float> x, Out<float> y, float factor) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(y.size()); ++i) y.data()[i] = factor * x.data()[i];
}

BATON_ORCHESTRATION(times_in_halves, graph, args) {
  const baton::Tensor& x = args.tensor(0);
  const baton::Tensor& y = args.tensor(1);
  const int64_t half = x.extent(0) / 2;
  graph.submit(times, x.slice(0, half), y.slice(0, half), args.scalar<float>(0));
  graph.submit(times, x.slice(half, 2 * half), y.slice(half, 2 * half), 10 * args.scalar<float>(0));
}
