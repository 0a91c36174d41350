// async_completion as a C++ program: alone, or `baton run -n 2 async_completion`.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <span>
#include <vector>

#include <baton/baton.hpp>

BATON_KERNEL_DECLARE(begin_twice, baton::In<float> in, baton::Out<float> out, std::int32_t* signal,
                     std::int32_t expected);
BATON_KERNEL_DECLARE(begin_fetch, float* window, baton::Out<float> got, const CommContext* windows, std::int32_t peer);
BATON_KERNEL_DECLARE(add_one, baton::In<float> in, baton::Out<float> out);

namespace {

float largest_difference(std::span<const float> values, std::span<const float> golden) {
  float largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) largest = std::max(largest, std::abs(values[i] - golden[i]));
  return largest;
}

/// The engine is the host; it notifies a signal.
float complete_by_a_signal(baton::Domain& me, baton::Chip& chip) {
  auto finished = me.signals("finished", 1);
  auto* signal = reinterpret_cast<std::int32_t*>(finished.local());
  const auto in = chip.alloc<float>({16}, "in");
  const auto out = chip.alloc<float>({16}, "out");
  const auto result = chip.alloc<float>({16}, "result");
  const auto other = chip.alloc<float>({16}, "other");

  float largest = 0;
  for (std::int32_t round = 1; round <= 2; ++round) {  // a signal is never reset: each round waits for the next value
    std::vector<float> values(16, 3.0F * static_cast<float>(round));
    const std::vector<float> golden(16, 2 * values[0] + 1);
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
    largest = std::max(largest, largest_difference(values, golden));
  }
  return largest;
}

/// A DMA engine gets what the next rank shows.
float complete_by_a_copy(baton::Domain& me, baton::Chip& chip) {
  constexpr std::size_t kCount = 1000;
  const auto shown_by = [](int rank, int round) {
    std::vector<float> values(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      values[i] = static_cast<float>(i % 251) / 10 + static_cast<float>(100 * rank + round - 1);
    }
    return values;
  };
  auto shown = me.window<float>("shown", kCount);
  const auto got = chip.alloc<float>({kCount}, "got");
  const auto result = chip.alloc<float>({kCount}, "result");
  const int next = (me.rank() + 1) % me.size();

  float largest = 0;
  for (int round = 1; round <= 2; ++round) {
    std::ranges::copy(shown_by(me.rank(), round), shown.begin());
    me.barrier();  // all show
    chip.run([&](baton::Graph& graph) {
      graph.submit(begin_fetch, shown.data(), got, shown.context(), next);
      graph.submit(add_one, got, result);  // waits for the bytes
    });
    me.barrier();  // nobody reads any more

    std::vector<float> values(kCount);
    std::vector<float> golden = shown_by(next, round);
    for (float& value : golden) value += 1;
    chip.copy_out<float>(result, values);
    largest = std::max(largest, largest_difference(values, golden));
  }
  return largest;
}

}  // namespace

int main() {
  auto me = baton::join();  // rank and size come from `baton run`; alone: 0 of 1
  baton::Chip chip(me);
  const float by_signal = complete_by_a_signal(me, chip);
  std::cout << "2 * in + 1, twice: largest difference " << by_signal << '\n';
  if (me.size() == 1) return by_signal == 0 ? 0 : 1;
  const float by_copy = complete_by_a_copy(me, chip);
  std::cout << "rank " << me.rank() << ": what the next rank shows + 1, twice: largest difference " << by_copy << '\n';
  return by_signal == 0 && by_copy == 0 ? 0 : 1;
}
