// Ranks write into each other's windows: the task that writes is complete when somebody has written to this rank.
#include <pto_async_kernel_api.h>

#include "../common/collective.hpp"

namespace {

constexpr int kArrived = 0;  // how often the rank before has put into this one's inbox
constexpr int kTaken = 1;    // how often the next rank has taken what this one put

}  // namespace

/// Puts `partial` into the inbox of the next rank, notifies that one and returns. The task is deferred until the rank
/// before has put into this rank's inbox: a task that reads the inbox waits for that.
BATON_KERNEL(put_partial, In<float> partial, InOut<float> inbox, InOut<int32_t> signals, CommContext* context,
             int32_t epoch) {
  const collective::Member me{context, inbox, signals};
  const int next = me.neighbour(1);
  me.wait(kTaken, epoch - 1);  // nobody reads the last one any more
  collective::copy(me.theirs(next), partial.data(), partial.size());
  me.count(next, kArrived);  // the bytes first, then the signal

  AsyncCtx completion = get_async_ctx(args);
  save_expected_notification_counter(completion, signals.data() + kArrived, static_cast<uint32_t>(epoch));
}

/// result = what was put here; then tells the rank that put it.
BATON_KERNEL(take_partial, InOut<float> inbox, Out<float> result, InOut<int32_t> signals, CommContext* context) {
  const collective::Member me{context, inbox, signals};
  collective::copy(result.data(), me.mine(), result.size());
  me.count(me.neighbour(-1), kTaken);
}
