#include "chip/graph/output_heap.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "expect_fails.hpp"
#include "random_tensor.hpp"
#include "support/scale.hpp"

namespace baton::graph {
namespace {

using test::expect_fails;
using test::pick;

constexpr Buffer kHeap{.address = 1 << 20, .bytes = 1024};

std::string line_text(unsigned line) { return "output_heap_test.cpp:" + std::to_string(line); }

TEST(ScopeStack, ClosesFromTheInside) {
  ScopeStack scopes;
  const ScopeId outer = scopes.open();
  const unsigned inner_line = __LINE__ + 1;
  const ScopeId inner = scopes.open();
  EXPECT_EQ(scopes.innermost(), inner);
  EXPECT_EQ(scopes.enclosing(inner), outer);
  expect_fails(Code::invalid_argument, {line_text(inner_line - 2), line_text(inner_line)},
               [&] { scopes.close(outer); });
  scopes.close(inner);
  expect_fails(Code::released, {"not open"}, [&] { scopes.close(inner); });
  scopes.close(outer);
  expect_fails(Code::invalid_argument, {"outermost"}, [&] { scopes.close(scopes.innermost()); });
}

TEST(OutputHeap, OutputsDieWithTheirScope) {
  OutputHeap heap(kHeap, 64, "BATON_HEAP");
  const unsigned line = __LINE__ + 1;
  const ScopeId scope = heap.open_scope();
  const Buffer output = heap.try_allocate(100, 1).value();
  const Buffer kept = heap.try_allocate(100, 1).value();
  EXPECT_EQ(output.address, kHeap.address);
  EXPECT_EQ(kept.address, kHeap.address + 128);
  heap.use(output, 2);
  heap.keep(kept);
  heap.close_scope(scope);
  EXPECT_TRUE(heap.is_dead(output));
  EXPECT_FALSE(heap.is_dead(kept));
  heap.use(kept, 3);
  expect_fails(Code::released, {"use of output 1", "100 bytes", line_text(line), "closed"},
               [&] { heap.use(output, 3); });
  heap.forget_before(10);
  expect_fails(Code::released, {line_text(line)}, [&] { heap.use(output, 10); });
  expect_fails(Code::released, {"keeping", line_text(line)}, [&] { heap.keep(output); });
  expect_fails(Code::invalid_argument, {"not an output"}, [&] { heap.use({.address = 1, .bytes = 1}, 3); });
}

TEST(OutputHeap, AKeptOutputDiesWithTheOuterScope) {
  OutputHeap heap(kHeap, 64, "BATON_HEAP");
  const unsigned line = __LINE__ + 1;
  const ScopeId outer = heap.open_scope();
  const ScopeId inner = heap.open_scope();
  const Buffer kept = heap.try_allocate(100, 1).value();
  heap.keep(kept);
  heap.close_scope(inner);
  heap.use(kept, 2);
  heap.close_scope(outer);
  expect_fails(Code::released, {line_text(line)}, [&] { heap.use(kept, 3); });
}

TEST(OutputHeap, WaitsForTheLastUser) {
  OutputHeap heap(kHeap, 64, "BATON_HEAP");
  const ScopeId scope = heap.open_scope();
  const Buffer output = heap.try_allocate(1000, 1).value();
  heap.use(output, 7);
  heap.close_scope(scope);
  EXPECT_FALSE(heap.try_allocate(1000, 9).has_value());
  EXPECT_EQ(heap.must_complete(), 7U);
  heap.forget_before(7);
  EXPECT_FALSE(heap.try_allocate(1000, 9).has_value());
  heap.forget_before(8);
  EXPECT_TRUE(heap.try_allocate(1000, 9).has_value());
}

TEST(OutputHeap, SaysAtOnceWhenWaitingCannotHelp) {
  OutputHeap heap(kHeap, 64, "BATON_HEAP");
  expect_fails(Code::out_of_memory, {"2000 bytes", "1024 bytes", "BATON_HEAP", "at least 2048"},
               [&] { (void)heap.try_allocate(2000, 1); });
  const unsigned line = __LINE__ + 1;
  const ScopeId outer = heap.open_scope();
  (void)heap.try_allocate(600, 1);
  const ScopeId inner = heap.open_scope();
  (void)heap.try_allocate(300, 2);
  heap.close_scope(inner);
  expect_fails(
      Code::out_of_memory,
      {"200 bytes", "1024 bytes", "waiting cannot help", "960 bytes", line_text(line), "still open", "BATON_HEAP"},
      [&] { (void)heap.try_allocate(200, 3); });
  heap.close_scope(outer);
  EXPECT_FALSE(heap.try_allocate(200, 3).has_value()) << "now waiting helps";
  EXPECT_EQ(heap.must_complete(), 1U);
}

/// Every output's life told in the simplest way.
struct ModelOutput {
  Buffer buffer;
  std::size_t depth;  // of its scope; 0: dead
  TaskId last_user;
};

TEST(OutputHeap, AgreesWithASimpleModel) {
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(test::scaled(400)); ++seed) {
    test::Random random(seed);
    OutputHeap heap(kHeap, 16, "BATON_HEAP");
    std::vector<ScopeId> open;
    std::vector<ModelOutput> outputs;
    TaskId task = 0;
    TaskId oldest_live = 1;
    for (int i = 0; i < 300; ++i) {
      switch (pick(random, 0, 5)) {
        case 0: open.push_back(heap.open_scope()); break;
        case 1:
          if (open.empty()) break;
          heap.close_scope(open.back());
          for (ModelOutput& output : outputs) {
            if (output.depth == open.size()) output.depth = 0;
          }
          open.pop_back();
          break;
        case 2: {
          if (open.empty() || outputs.empty()) break;
          ModelOutput& output =
              outputs[static_cast<std::size_t>(pick(random, 0, static_cast<std::int64_t>(outputs.size()) - 1))];
          ASSERT_EQ(heap.is_dead(output.buffer), output.depth == 0) << "seed " << seed;
          if (output.depth == 0) {
            expect_fails(Code::released, {"after its death"}, [&] { heap.use(output.buffer, task); });
            break;
          }
          heap.use(output.buffer, ++task);
          output.last_user = task;
          if (output.depth > 1 && pick(random, 0, 3) == 0) {
            heap.keep(output.buffer);
            --output.depth;
          }
          break;
        }
        case 3:
          oldest_live = static_cast<TaskId>(
              pick(random, static_cast<std::int64_t>(oldest_live), static_cast<std::int64_t>(task) + 1));
          heap.forget_before(oldest_live);
          break;
        default: {
          if (open.empty()) break;
          const auto bytes = static_cast<std::uint64_t>(pick(random, 1, 200));
          try {
            const auto buffer = heap.try_allocate(bytes, ++task);
            if (!buffer) {
              // The task named is enough, and is not complete yet.
              ASSERT_GE(heap.must_complete(), oldest_live);
              oldest_live = heap.must_complete() + 1;
              heap.forget_before(oldest_live);
              ASSERT_TRUE(heap.try_allocate(bytes, task).has_value()) << "seed " << seed;
              i = 300;  // the model does not know that last output
              break;
            }
            for (const ModelOutput& other : outputs) {
              if (other.depth == 0 && other.last_user < oldest_live) continue;
              ASSERT_TRUE(buffer->address + bytes <= other.buffer.address ||
                          other.buffer.address + other.buffer.bytes <= buffer->address)
                  << "seed " << seed << ": memory still in use was given out";
            }
            outputs.push_back({*buffer, open.size(), task});
          } catch (const Error& error) {
            ASSERT_EQ(error.code(), Code::out_of_memory);
            // Even with all tasks complete there is no room.
            heap.forget_before(task + 1);
            expect_fails(Code::out_of_memory, {}, [&] { (void)heap.try_allocate(bytes, task); });
            i = 300;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace baton::graph
