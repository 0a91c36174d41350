// Rank r gets block r of the sum of all ranks.
#include <baton_kernel.hpp>
#include <collectives/collectives.hpp>

BATON_KERNEL(reduce_scatter, In<float> x, Out<float> y, InOut<float> window, InOut<int32_t> signals,
             const CommContext* context) {
  baton::collectives::Member<float> me(context, window, signals);
  baton::collectives::reduce_scatter(me, x.data(), y.data(), y.size());
}
