// A program that drives a node: says which processes its chips are, lets them wait for each other without end, tells
// how that ended, and uses the node again.
//   hosts_node CHIPS [CHIP_PROGRAM [LIBRARY]]      with a library it runs add_one of it, and nothing else
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <vector>

#include <baton/error.hpp>
#include <baton/worker.hpp>
#include <baton_kernel.hpp>
#include <pto/comm/pto_comm_inst.hpp>

BATON_KERNEL(wait_without_end, baton::InOut<std::int32_t> signal) {
  pto::comm::Signal never(signal.data());
  pto::comm::TWAIT(never, 1, pto::comm::WaitCmp::GE);
}

BATON_KERNEL(add_one, baton::InOut<float> x) {
  for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] += 1;
}

namespace {

void wait_for_each_other(baton::Worker& node, const std::vector<int>& chips) {
  node.run([&](baton::Orchestration& orch) {
    const std::vector<baton::CommBufferSpec> buffers = {{"signal", baton::DType::int32, 1}};
    const auto domain = orch.allocate_domain("all", chips, 0, buffers);
    std::vector<baton::TaskArgs> args(chips.size());
    for (const int chip : chips) {
      args[static_cast<std::size_t>(chip)].add_tensor(domain[chip].buffer("signal").tensor,
                                                      baton::TensorArgType::inout);
    }
    orch.submit_next_level_group(wait_without_end, args, chips);
    std::cout << "waiting" << std::endl;
  });
}

void add_on_all(baton::Worker& node, const std::vector<int>& chips, const baton::Callable& add) {
  const baton::Tensor x = node.create_buffer(baton::DType::float32, {static_cast<std::int64_t>(chips.size()), 100});
  node.run([&](baton::Orchestration& orch) {
    for (const int chip : chips) {
      baton::TaskArgs args;
      args.add_tensor(x.index(chip), baton::TensorArgType::inout);
      orch.submit_next_level(add, args, chip);
    }
  });
  const auto* values = reinterpret_cast<const float*>(x.address());
  std::cout << "sum " << std::accumulate(values, values + 100 * chips.size(), 0.0F) << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::vector<int> chips(static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 4));
    std::iota(chips.begin(), chips.end(), 0);
    baton::Worker node({.devices = chips, .clusters = 1, .chip_program = argc > 2 ? argv[2] : ""});
    if (argc > 3) return add_on_all(node, chips, baton::Callable::in_library(argv[3], "add_one")), 0;
    for (const int chip : chips) std::cout << node.pid_of(chip) << std::endl;
    try {
      wait_for_each_other(node, chips);
    } catch (const baton::Error& error) {
      std::cout << "ended" << std::endl;
      std::cerr << error.what() << std::endl;
    }
    add_on_all(node, chips, add_one);
  } catch (const baton::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
