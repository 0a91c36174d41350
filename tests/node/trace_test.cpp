// Traces that begin and end while the chips of a node run.
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <baton/trace.hpp>

#include "base/trace_reader.hpp"
#include "node_fixture.hpp"
#include "node_kernels.hpp"

namespace baton::test {
namespace {

class TracedNode : public testing::TestWithParam<NodeShape> {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }

  void run(int tasks) {
    worker_.run([&](Orchestration& o) {
      for (int chip = 0; chip < GetParam().chips; ++chip) {
        for (int i = 0; i < tasks; ++i) {
          o.submit_next_level(
              on_chip(node_add),
              TaskArgs().add_tensor(xs_[static_cast<std::size_t>(chip)], TensorArgType::inout).add_scalar(1.0F), chip);
        }
      }
    });
  }

  /// How many tasks each chip has in the file.
  [[nodiscard]] std::map<std::uint32_t, int> tasks_in_file() const {
    std::map<std::uint32_t, int> tasks;
    const TraceReader reader(file_);
    reader.for_each([&](const EventRecord& event, std::uint32_t) {
      if (event.kind == EventKind::task) ++tasks[event.rank];
    });
    return tasks;
  }

  const std::string file_ =
      (std::filesystem::temp_directory_path() / ("baton-node-" + std::to_string(::getpid()) + ".trace")).string();
  Worker worker_{node_options(GetParam())};
  std::vector<Tensor> xs_ = {worker_.create_buffer(DType::float32, {4}), worker_.create_buffer(DType::float32, {4})};
};

TEST_P(TracedNode, ThatRunsAlreadyIsInATraceFromItsBeginningToItsEnd) {
  run(1);
  for (const int tasks : {3, 2}) {
    {
      const Trace trace(file_);
      run(tasks);
    }
    run(5);
    // Of the second trace nothing is left of the first: nobody has written to the file any more.
    EXPECT_EQ(tasks_in_file(), (std::map<std::uint32_t, int>{{0, tasks}, {1, tasks}}));
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, TracedNode,
                         testing::Values(NodeShape{Isolation::processes, 2}, NodeShape{Isolation::inproc, 2}),
                         [](const auto& of) { return name_of(of.param); });

}  // namespace
}  // namespace baton::test
