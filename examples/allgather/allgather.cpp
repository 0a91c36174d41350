// Everybody gets the blocks of all ranks: y = block of rank 0, block of rank 1, ...
#include <baton_kernel.hpp>
#include <collectives/collectives.hpp>

BATON_KERNEL(allgather, In<float> x, Out<float> y, InOut<float> window, InOut<int32_t> signals,
             const CommContext* context) {
  baton::collectives::Member<float> me(context, window, signals);
  baton::collectives::allgather(me, x.data(), y.data(), x.size());
}
