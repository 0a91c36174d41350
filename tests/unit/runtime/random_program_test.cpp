// Random programs give the same result as the same kernels one after the other, however the graph is built.
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <baton/chip.hpp>

#include "kernels.hpp"
#include "support/scale.hpp"

namespace baton::test {
namespace {

constexpr std::int64_t kSide = 12;

/// A view of a square matrix: a random rectangle with steps, perhaps transposed.
Tensor random_view(const Tensor& matrix, std::mt19937& random) {
  Tensor view = matrix;
  for (int dim = 0; dim < 2; ++dim) {
    const auto begin = static_cast<std::int64_t>(random() % kSide);
    const auto end = begin + 1 + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(kSide - begin));
    view = view.slice_dim(dim, begin, end, 1 + static_cast<std::int64_t>(random() % 3));
  }
  return random() % 2 == 0 ? view : view.transpose(0, 1);
}

template <class Action>
void each(const Tensor& view, Action&& action) {
  auto* base = reinterpret_cast<std::int64_t*>(view.address());
  for (std::int64_t i = 0; i < view.extent(0); ++i) {
    for (std::int64_t j = 0; j < view.extent(1); ++j) action(base[i * view.stride(0) + j * view.stride(1)]);
  }
}

std::int64_t sum_of(const Tensor& view) {
  // As the kernels compute it: in arithmetic that wraps.
  std::uint64_t sum = 0;
  each(view, [&](std::int64_t element) { sum += static_cast<std::uint64_t>(element); });
  return static_cast<std::int64_t>(sum);
}

struct Step {
  bool is_mix;
  std::array<Tensor, 3> views;
  std::int64_t k;
};

bool overlap(const Tensor& a, const Tensor& b) {
  bool any = false;
  each(a, [&](const std::int64_t& one) { each(b, [&](const std::int64_t& other) { any = any || &one == &other; }); });
  return any;
}

/// Values stay small enough not to overflow: every step keeps only the low bits.
void run_on_host(const Step& step) {
  const auto& [a, b, y] = step.views;
  if (step.is_mix) {
    const std::uint64_t sum = static_cast<std::uint64_t>(sum_of(a)) + static_cast<std::uint64_t>(sum_of(b)) +
                              static_cast<std::uint64_t>(step.k);
    each(y, [&](std::int64_t& e) { e = static_cast<std::int64_t>(static_cast<std::uint64_t>(e) * 31 + sum); });
  } else {
    const std::uint64_t sum = static_cast<std::uint64_t>(sum_of(a)) + static_cast<std::uint64_t>(step.k);
    each(y, [&](std::int64_t& e) { e = static_cast<std::int64_t>(sum); });
  }
}

TaskId submit(Graph& g, const Step& step, const TaskOptions& options = {}) {
  const auto& [a, b, y] = step.views;
  return step.is_mix ? g.submit(options, mix, a, b, y, step.k) : g.submit(options, renew, a, y, step.k);
}

/// Whether `later` must wait for `earlier`: one of them writes what the other uses.
bool conflict(const Step& earlier, const Step& later) {
  const auto uses = [](const Step& step, const Tensor& written) {
    return overlap(step.views[0], written) || (step.is_mix && overlap(step.views[1], written)) ||
           overlap(step.views[2], written);
  };
  return uses(earlier, later.views[2]) || uses(later, earlier.views[2]);
}

/// Names every edge.
void submit_with_edges(Graph& g, const std::vector<Step>& steps) {
  std::vector<TaskId> tasks;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    TaskOptions options;
    for (std::size_t j = 0; j < i; ++j) {
      if (conflict(steps[j], steps[i])) options.after.push_back(tasks[j]);
    }
    tasks.push_back(submit(g, steps[i], options));
  }
}

void run_program(std::uint32_t seed, Chip& chip, std::span<std::int64_t> memory, const Tensor& matrix) {
  std::mt19937 random(seed);
  std::vector<Step> steps(40);
  for (Step& step : steps) {
    do {
      step = {.is_mix = random() % 2 == 0,
              .views = {random_view(matrix, random), random_view(matrix, random), random_view(matrix, random)},
              .k = static_cast<std::int64_t>(random() % 100)};
      // A kernel that writes what it reads in another order has no defined result.
    } while (overlap(step.views[0], step.views[2]) || (step.is_mix && overlap(step.views[1], step.views[2])));
  }
  std::vector<std::int64_t> before(memory.size());
  for (auto& element : before) element = static_cast<std::int64_t>(random() % 1000);

  std::ranges::copy(before, memory.begin());
  for (const Step& step : steps) run_on_host(step);
  const std::vector<std::int64_t> expected(memory.begin(), memory.end());

  const auto submit_all = [&](Graph& g) {
    for (const Step& step : steps) submit(g, step);
  };
  const auto check = [&](const char* mode, auto&& run) {
    std::ranges::copy(before, memory.begin());
    run();
    ASSERT_TRUE(std::ranges::equal(memory, expected)) << mode << ", seed " << seed;
  };
  check("stream", [&] { chip.run(submit_all); });
  check("explicit", [&] { chip.run([&](Graph& g) { submit_with_edges(g, steps); }, {.edges = Edges::named}); });
  CapturedGraph captured = chip.capture(submit_all);
  ASSERT_EQ(captured.task_count(), steps.size());
  check("captured", [&] { chip.run(captured); });
  check("captured, again", [&] { chip.run(captured); });
}

TEST(RandomPrograms, GiveTheResultOfOneAfterTheOther) {
  std::vector<std::int64_t> memory(kSide * kSide);
  Chip chip({.clusters = 6});
  const Tensor matrix = chip.add(std::span(memory)).reshape({kSide, kSide});
  for (int seed = 0; seed < scaled(400); ++seed) {
    run_program(static_cast<std::uint32_t>(seed), chip, memory, matrix);
    if (HasFatalFailure()) return;
  }
}

TEST(RandomPrograms, GiveTheSameWithOneThreadAndATinyWindow) {
  std::vector<std::int64_t> memory(kSide * kSide);
  Chip chip({.clusters = 2, .threads = 1, .task_window = 2});
  const Tensor matrix = chip.add(std::span(memory)).reshape({kSide, kSide});
  for (int seed = 0; seed < scaled(100); ++seed) {
    run_program(static_cast<std::uint32_t>(1000 + seed), chip, memory, matrix);
    if (HasFatalFailure()) return;
  }
}

TEST(RandomPrograms, GiveTheSameUnderAThousandSeeds) {
  std::vector<std::int64_t> memory(kSide * kSide);
  for (int seed = 0; seed < scaled(1000); ++seed) {
    Chip chip({.clusters = 3, .seed = static_cast<std::uint64_t>(seed)});
    const Tensor matrix = chip.add(std::span(memory)).reshape({kSide, kSide});
    run_program(7, chip, memory, matrix);
    if (HasFatalFailure()) return;
  }
}

TEST(Seed, DecidesWhichReadyTaskGoesFirst) {
  std::set<std::vector<std::int64_t>> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Chip chip({.clusters = 1, .seed = seed});
    const Tensor list = chip.alloc<std::int64_t>({16});
    CapturedGraph graph = chip.capture(
        [&](Graph& g) {
          const TaskId first = g.submit_empty({});
          for (int i = 0; i < 8; ++i) g.submit({.after = {first}}, append, list, i);
        },
        {.edges = Edges::named});
    chip.run(graph);
    std::vector<std::int64_t> values(16);
    chip.copy_out<std::int64_t>(list, std::span(values));
    orders.insert(values);
  }
  EXPECT_GT(orders.size(), 10U);
}

}  // namespace
}  // namespace baton::test
