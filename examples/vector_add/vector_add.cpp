// out = a + b on one chip, a tile at a time: vector_add [elements]
#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include <baton/baton.hpp>
#include <baton_kernel.hpp>

constexpr int kTile = 4096;  // floats in a tile: 16 KiB of the 192 KiB that a core has

/// For one core: at most one tile of each tensor.
BATON_KERNEL(add, In<float> a, In<float> b, Out<float> out) {
  using Line = pto::Tile<pto::TileType::Vec, float, 1, kTile, pto::BLayout::RowMajor, 1, pto::DYNAMIC>;
  const auto count = static_cast<unsigned>(out.size());
  Line x(count);
  Line y(count);
  TASSIGN(x, 0);  // where in the buffer of the core
  TASSIGN(y, kTile * sizeof(float));
  auto a_line = a.line();
  auto b_line = b.line();
  auto out_line = out.line();

  TLOAD(x, a_line);
  TLOAD(y, b_line);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);  // loading, adding and storing run at the same time: flags order them
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADD(x, x, y);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(out_line, x);
}
#if !defined(__CPU_SIM)  // a program; main.py compiles the kernel alone
int main(int argc, char** argv) {
  const std::int64_t count = argc > 1 ? std::stoll(argv[1]) : 1'000'000;
  std::vector<float> first(static_cast<std::size_t>(count));
  std::iota(first.begin(), first.end(), 0.0F);
  const std::vector<float> second(first.rbegin(), first.rend());

  baton::Chip chip;  // simulated: 24 cube cores and 48 vector cores
  const auto a = chip.alloc<float>({count}, "a");
  const auto b = chip.alloc<float>({count}, "b");
  const auto out = chip.alloc<float>({count}, "out");
  chip.copy_in<float>(a, first);
  chip.copy_in<float>(b, second);

  chip.run([&](baton::Graph& graph) {
    for (std::int64_t i = 0; i < count; i += kTile) {
      const std::int64_t end = std::min(i + kTile, count);
      graph.submit(add, a.slice(i, end), b.slice(i, end), out.slice(i, end));  // no two overlap: all may run at once
    }
  });

  std::vector<float> result(first.size());
  chip.copy_out<float>(out, result);
  float largest = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    largest = std::max(largest, std::abs(result[i] - (first[i] + second[i])));
  }
  std::cout << count << " elements, largest difference " << largest << '\n';
  return largest == 0 ? 0 : 1;
}
#endif
