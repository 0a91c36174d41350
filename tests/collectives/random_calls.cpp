#include "random_calls.hpp"

#include "collectives/selection.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

using collectives::Operation;

constexpr std::size_t kMostCount = 12'000;

/// The next case of a sequence that all members draw alike.
Case draw(std::mt19937_64& random, int ranks) {
  const auto infos = collectives::all_algorithms();
  const auto& info = infos[random() % infos.size()];
  Case one;
  one.operation = info.operation == Operation::barrier && random() % 2 == 0 ? Operation::all_to_all_v : info.operation;
  one.algorithm = random() % 2 == 0 && one.operation == info.operation ? info.algorithm : Algorithm::automatic;
  one.element = static_cast<Element>(random() % 12);
  one.op = static_cast<ReduceOp>(random() % 5);
  constexpr std::size_t kScales[] = {3, 40, 3000, kMostCount};
  one.count = random() % kScales[random() % 4];
  one.root = static_cast<int>(random() % static_cast<std::uint64_t>(ranks));
  one.memory =
      one.operation == Operation::broadcast ? static_cast<Memory>(random() % 2) : static_cast<Memory>(random() % 4);
  if (may_be_in_place(one.operation) && random() % 2 == 0 && one.memory <= Memory::own) one.placing = Placing::in_place;
  return one;
}

}  // namespace

Group::Group(Domain members, std::uint64_t seed)
    : domain(std::move(members)),
      random(seed),
      buffers(domain, (kMostCount + 8) * 8 * static_cast<std::size_t>(domain.size())) {}

void Group::call(int round, const Maker& maker) {
  const Case one = draw(random, domain.size());
  const std::size_t wrong = wrong_elements(domain, buffers, one, round, maker);
  if (wrong != 0) throw CheckFailed(std::to_string(wrong) + " wrong: " + describe(one));
}

void random_calls(Domain me, std::uint64_t seed, int calls) {
  std::mt19937_64 order(seed);
  std::vector<int> half;
  std::vector<int> crossing;
  for (int rank = 0; rank < me.size(); ++rank) {
    if ((rank < me.size() / 2) == (me.rank() < me.size() / 2)) half.push_back(rank);
    if (rank % 2 == me.rank() % 2) crossing.insert(crossing.begin(), rank);
  }
  Group world(me, seed * 3 + 1);
  Group side(me.subset("half", half), seed * 3 + 2 + (me.rank() < me.size() / 2 ? 0 : 1000));
  Group across(me.subset("crossing", crossing), seed * 3 + 3 + static_cast<std::uint64_t>(me.rank() % 2) * 1000);
  for (int call = 0; call < calls; ++call) {
    switch (order() % 4) {
      case 0:
      case 1: world.call(call); break;
      case 2: side.call(call); break;
      default: across.call(call);
    }
  }
}

}  // namespace baton::test
