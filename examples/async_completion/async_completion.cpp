// A task that is not complete when its kernel returns: an engine finishes it, and a signal says when.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

#include <pto_async_kernel_api.h>
#include <baton/baton.hpp>
#include <baton_kernel.hpp>

/// Leaves out = 2 in to an engine. Complete when the signal has reached `expected`.
BATON_KERNEL(begin_twice, In<float> in, Out<float> out, int32_t* signal, int32_t expected) {
  (void)in;
  (void)out;
  AsyncCtx context = get_async_ctx(args);
  save_expected_notification_counter(context, signal, static_cast<uint32_t>(expected));
}

BATON_KERNEL(add_one, In<float> in, Out<float> out) {
  for (int64_t i = 0; i < out.size(); ++i) out.data()[i] = in.data()[i] + 1;
}

int main() {
  auto me = baton::join();
  auto finished = me.signals("finished", 1);
  auto* signal = reinterpret_cast<std::int32_t*>(finished.local());

  baton::Chip chip(me);
  const auto in = chip.alloc<float>({16}, "in");
  const auto out = chip.alloc<float>({16}, "out");
  const auto result = chip.alloc<float>({16}, "result");
  const auto other = chip.alloc<float>({16}, "other");

  float largest = 0;
  for (std::int32_t round = 1; round <= 2; ++round) {  // a signal is never reset: each round waits for the next value
    std::vector<float> values(16, 3.0F * static_cast<float>(round));
    const float golden = 2 * values[0] + 1;
    chip.copy_in<float>(in, values);

    chip.run([&](baton::Graph& graph) {
      graph.submit(begin_twice, in, out, signal, round);
      graph.submit(add_one, out, result);  // waits for the signal, not only for the kernel

      graph.wait(graph.submit(add_one, in, other));  // the cores are free for other tasks meanwhile

      // The engine, played by the host: it does what was left to it, then notifies.
      std::ranges::transform(values, values.begin(), [](float value) { return 2 * value; });
      chip.copy_in<float>(out, values);
      finished.notify(me.rank(), 0);
    });

    chip.copy_out<float>(result, values);
    for (const float value : values) largest = std::max(largest, std::abs(value - golden));
  }
  std::cout << "2 * in + 1, twice: largest difference " << largest << '\n';
  return largest == 0 ? 0 : 1;
}
