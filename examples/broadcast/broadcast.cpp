// Everybody gets what the root has. The root may change from round to round: a new one does not wait for those who
// still read from the last one.
#include <baton_kernel.hpp>
#include <collectives/collectives.hpp>

BATON_KERNEL(broadcast, In<float> x, Out<float> y, InOut<float> window, InOut<int32_t> signals,
             const CommContext* context, int32_t root) {
  baton::collectives::Member<float> me(context, window, signals);
  baton::collectives::broadcast(me, x.data(), y.data(), y.size(), root);
}
