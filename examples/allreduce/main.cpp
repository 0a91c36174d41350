// allreduce as a C++ program: a node of four chips, or as many as are named: `allreduce 0-7`.
#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <numeric>
#include <span>
#include <vector>

#include <baton/baton.hpp>
#include <baton/worker.hpp>
#include <collectives/member.hpp>

BATON_KERNEL_DECLARE(allreduce, baton::In<float> x, baton::Out<float> y, baton::InOut<float> window,
                     baton::InOut<std::int32_t> signals, const CommContext* context, std::int32_t mode);

namespace {

constexpr std::int64_t kCount = 256;
constexpr std::int32_t kOnePhase = 0;  // the first of kModes in allreduce.cpp

std::span<float> values_of(const baton::Tensor& buffer) {
  return {reinterpret_cast<float*>(buffer.address()), static_cast<std::size_t>(kCount)};
}

}  // namespace

int main(int argc, char** argv) {
  // A process for each chip: they run this program again, so the kernels that are linked into it are there, too.
  baton::Worker node({.devices = baton::parse_device_list(argc > 1 ? argv[1] : "0-3"), .clusters = 1});
  const int ranks = node.chip_count();
  std::vector<int> chips(static_cast<std::size_t>(ranks));
  std::iota(chips.begin(), chips.end(), 0);

  // What each rank has, the sum over the ranks, and the sum of these sums.
  std::vector<std::array<baton::Tensor, 3>> data(chips.size());
  for (const int chip : chips) {
    auto& mine = data[static_cast<std::size_t>(chip)];
    for (baton::Tensor& tensor : mine) tensor = node.create_buffer(baton::DType::float32, {kCount});
    std::iota(values_of(mine[0]).begin(), values_of(mine[0]).end(), 100.0F * static_cast<float>(chip));
  }

  node.run([&](baton::Orchestration& orch) {
    const std::vector<baton::CommBufferSpec> buffers = {
        {"window", baton::DType::float32, static_cast<std::size_t>(kCount)},
        {"signals", baton::DType::int32, static_cast<std::size_t>(baton::collectives::signals_needed(ranks))}};
    const auto domain = orch.allocate_domain("all", chips, 0, buffers);
    for (std::size_t round = 0; round < 2; ++round) {  // in the same windows; the second reads what the first wrote
      std::vector<baton::TaskArgs> args(chips.size());
      for (const int chip : chips) {
        const baton::DomainMember& member = domain[chip];
        const auto i = static_cast<std::size_t>(chip);
        args[i]
            .add_tensor(data[i][round], baton::TensorArgType::input)
            .add_tensor(data[i][round + 1], baton::TensorArgType::output)
            .add_tensor(member.buffer("window").tensor, baton::TensorArgType::no_dep)
            .add_tensor(member.buffer("signals").tensor, baton::TensorArgType::no_dep)
            .add_scalar(member.device_ctx)
            .add_scalar(kOnePhase);
      }
      orch.submit_next_level_group(allreduce, args, chips);  // its members wait for each other, so they start together
    }
  });

  float largest = 0;
  for (const auto& mine : data) {
    for (std::int64_t i = 0; i < kCount; ++i) {
      const auto golden = static_cast<float>(ranks * (ranks * i + 50 * ranks * (ranks - 1)));
      largest = std::max(largest, std::abs(values_of(mine[2])[static_cast<std::size_t>(i)] - golden));
    }
  }
  std::cout << "allreduce of " << kCount << " floats on " << ranks << " chips, twice: largest difference " << largest
            << '\n';
  return largest == 0 ? 0 : 1;
}
