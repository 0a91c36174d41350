// moe_dispatch as a C++ program: `baton run -n 8 moe_dispatch`, or all ranks in this process: `moe_dispatch 8`.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <vector>

#include <baton/baton.hpp>
#include <moe/layout.hpp>

BATON_KERNEL_DECLARE(prepare, baton::In<std::int32_t> problem, baton::In<float> tokens, baton::In<std::int32_t> experts,
                     baton::Out<std::int32_t> plan, baton::Out<float> outbox, std::uint8_t* window,
                     const CommContext* context, std::int32_t token_count);
BATON_KERNEL_DECLARE(send_rows, baton::In<std::int32_t> problem, baton::In<std::int32_t> plan, baton::In<float> outbox,
                     std::uint8_t* window, const CommContext* context, std::int32_t round);
BATON_KERNEL_DECLARE(recv_assemble, baton::In<std::int32_t> problem, baton::In<std::int32_t> plan,
                     baton::In<float> tokens, baton::Out<float> rows, baton::Out<std::int32_t> blocks,
                     std::uint8_t* window, const CommContext* context, std::int32_t token_count);

namespace {

using baton::moe::Counter;
using baton::moe::Layout;
using baton::moe::Problem;

constexpr std::int32_t kTokens = 16;
constexpr std::int32_t kWidth = 128;
constexpr std::int32_t kExpertsPerRank = 2;
constexpr std::int32_t kRounds = 2;

/// Every row of every rank and round is another one.
std::vector<float> tokens_of(int rank, std::int32_t round) {
  std::vector<float> values(static_cast<std::size_t>(kTokens * kWidth));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(10000 * rank + round) + static_cast<float>(i) / 16;
  }
  return values;
}

/// Token i goes to expert i mod the number of experts, so the rows of an expert come from all ranks.
std::vector<float> golden_of(const Layout& layout, int rank, std::int32_t round) {
  std::vector<float> rows;
  const auto experts = static_cast<std::int32_t>(layout.experts());
  for (std::int32_t expert = rank * kExpertsPerRank; expert < (rank + 1) * kExpertsPerRank; ++expert) {
    for (int source = 0; source < layout.problem().ranks; ++source) {
      const std::vector<float> tokens = tokens_of(source, round);
      for (std::int32_t token = expert; token < kTokens; token += experts) {
        rows.insert(rows.end(), tokens.begin() + token * kWidth, tokens.begin() + (token + 1) * kWidth);
      }
    }
  }
  return rows;
}

/// One rank's part; returns how many rounds went wrong.
int live(baton::Domain me) {
  const Problem problem{me.size(), kExpertsPerRank, 1, kTokens, kWidth, sizeof(float), 0};
  const Layout layout(problem);
  auto window = me.window<std::uint8_t>("moe", static_cast<std::size_t>(layout.window_bytes()));
  const auto counter = [&](Counter which) {
    return reinterpret_cast<std::int32_t*>(window.data() + layout.counter(which));
  };

  baton::Chip chip(me, {.clusters = 1});
  const auto numbers = chip.alloc<std::int32_t>({baton::moe::kProblemInts}, "problem");
  const auto tokens = chip.alloc<float>({kRounds, kTokens, kWidth}, "tokens");
  const auto experts = chip.alloc<std::int32_t>({kTokens}, "experts");
  const auto plan = chip.alloc<std::int32_t>({layout.plan_ints()}, "plan");
  const auto outbox = chip.alloc<float>({layout.sent_at_most(), kWidth}, "outbox");
  const auto rows = chip.alloc<float>({kRounds, layout.received_at_most(), kWidth}, "rows");
  const auto blocks = chip.alloc<std::int32_t>({kRounds, layout.block_ints()}, "blocks");

  std::vector<std::int32_t> chosen(static_cast<std::size_t>(kTokens));
  for (std::int32_t i = 0; i < kTokens; ++i) {
    chosen[static_cast<std::size_t>(i)] = i % static_cast<std::int32_t>(layout.experts());
  }
  chip.copy_in<std::int32_t>(experts, chosen);
  chip.copy_in<std::int32_t>(
      numbers, std::vector<std::int32_t>{problem.ranks, problem.experts_per_rank, problem.top_k, problem.tokens_at_most,
                                         problem.width, problem.element_bytes, problem.capacity});
  for (std::int32_t round = 1; round <= kRounds; ++round) {
    chip.copy_in<float>(tokens.index(round - 1), tokens_of(me.rank(), round));
  }

  // All rounds in one graph. Edges come from the tensors; tokens bring what other ranks do.
  chip.run([&](baton::Graph& graph) {
    for (std::int32_t round = 1; round <= kRounds; ++round) {
      graph.submit(prepare, numbers, tokens.index(round - 1), experts, plan, outbox, window.data(), window.context(),
                   kTokens);
      const auto taken = graph.submit_notification_wait(counter(Counter::rows_taken),
                                                        layout.per_round(Counter::rows_taken) * (round - 1));
      graph.submit({.tokens = {taken}}, send_rows, numbers, plan, outbox, window.data(), window.context(), round);
      const auto arrived = graph.submit_notification_wait(counter(Counter::rows_arrived),
                                                          layout.per_round(Counter::rows_arrived) * round);
      graph.submit({.tokens = {arrived}}, recv_assemble, numbers, plan, tokens.index(round - 1), rows.index(round - 1),
                   blocks.index(round - 1), window.data(), window.context(), kTokens);
    }
  });
  me.barrier();  // nobody leaves while others may still tell it that rows were taken

  int wrong = 0;
  for (std::int32_t round = 1; round <= kRounds; ++round) {
    std::vector<float> got(static_cast<std::size_t>(layout.received_at_most() * kWidth));
    std::vector<std::int32_t> starts(static_cast<std::size_t>(layout.block_ints()));
    chip.copy_out<float>(rows.index(round - 1), got);
    chip.copy_out<std::int32_t>(blocks.index(round - 1), starts);
    got.resize(static_cast<std::size_t>(starts[static_cast<std::size_t>(layout.experts())] * kWidth));
    if (got != golden_of(layout, me.rank(), round)) ++wrong;
  }
  static std::mutex printing;
  const std::scoped_lock lock(printing);
  std::cout << "rank " << me.rank() << ": " << kRounds << " rounds, " << wrong << " wrong\n";
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) return live(baton::join()) == 0 ? 0 : 1;
  int wrong = 0;
  std::mutex adding;
  baton::run_ranks(std::atoi(argv[1]), [&](baton::Domain me) {
    const int here = live(std::move(me));
    const std::scoped_lock lock(adding);
    wrong += here;
  });
  return wrong == 0 ? 0 : 1;
}
