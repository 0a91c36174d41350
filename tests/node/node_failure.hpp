// A node on which something goes wrong.
#pragma once

#include "node_fixture.hpp"
#include "node_kernels.hpp"

namespace baton::test {

class NodeFailure : public Node {
 protected:
  /// The node works: every chip doubles.
  void expect_usable() {
    const Tensor x = worker.create_buffer(DType::float32, {chips(), 4});
    for (int i = 0; i < 4 * chips(); ++i) floats(x)[i] = 1;
    worker.run([&](Orchestration& o) {
      for (int chip = 0; chip < chips(); ++chip) {
        TaskArgs args;
        args.add_tensor(x.index(chip), TensorArgType::inout).add_scalar(2.0F);
        o.submit_next_level(on_chip(node_add), args, chip);
      }
    });
    for (int i = 0; i < 4 * chips(); ++i) EXPECT_EQ(floats(x)[i], 3.0F);
    worker.free_buffer(x);
  }
  static TaskArgs one(const Tensor& tensor) {
    TaskArgs args;
    args.add_tensor(tensor, TensorArgType::inout);
    return args;
  }
};

}  // namespace baton::test
