// Members that pass a barrier several times, each publishing data before it and reading everybody's after it.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "atomics.hpp"
#include "base/doorbell.hpp"
#include "explore.hpp"
#include "waiting.hpp"

namespace baton::model {

/// The model checker's equivalent of wire::BarrierWords.
template <class Orders>
struct ModelBarrierWords {
  ModelAtomic<std::uint64_t, Orders> arrived{0};
  ModelAtomic<std::uint64_t, Orders> released{0};
};

/// How a member that has to wait does it.
enum class Waiting : std::uint8_t { spinning, parked };

/// Whether a member's deadline may pass while it waits: it then withdraws and comes again.
enum class Patience : std::uint8_t { endless, limited };

struct BarrierUse {
  std::uint64_t members;
  std::uint64_t rounds;
  Waiting waiting = Waiting::spinning;
  /// This many members have limited patience, once per round.
  std::uint64_t impatient = 0;
};

/// `Protocol` is comm::BarrierProtocol<Words>, or a broken one with the same functions.
template <class Protocol, class Words>
struct BarrierWorld {
  BarrierUse use;
  Words words;
  std::deque<BasicDoorbell<ModelRules>> bells;
  /// Two per member, used in turn: before a value is overwritten, its writer has passed a barrier after all reads of
  /// it.
  std::deque<ModelVar<std::uint64_t>> data;

  BarrierWorld(Scenario& scenario, BarrierUse how) : use(how) {
    scenario.name("barrier", words, {"arrived", "released"});
    for (std::uint64_t member = 0; member < use.members; ++member) {
      if (use.waiting == Waiting::parked) scenario.name("bell", bells.emplace_back(), {"rings", "sleepers"});
      for (int i = 0; i < 2; ++i) scenario.name("data", data.emplace_back());
    }
  }

  ModelVar<std::uint64_t>& data_of(std::uint64_t member, std::uint64_t round) { return data[2 * member + round % 2]; }

  void pass(std::uint64_t me, std::uint64_t round) {
    if (!try_to_pass(me, round, me < use.impatient ? Patience::limited : Patience::endless)) {
      // A member that withdrew has not published anything yet.
      const bool passed = try_to_pass(me, round, Patience::endless);
      require(passed, "a member without a deadline passes");
    }
    for (std::uint64_t peer = 0; peer < use.members; ++peer) {
      require(data_of(peer, round).read() == round, "what a member wrote before the barrier is visible after it");
    }
  }

  /// As DomainState::barrier(); false if the member withdrew.
  bool try_to_pass(std::uint64_t me, std::uint64_t round, Patience patience) {
    data_of(me, round).write(round);
    if (Protocol::arrive(words, round, use.members) == Protocol::Arrival::completed) {
      for (std::uint64_t peer = 0; peer < bells.size(); ++peer) {
        if (peer != me) bells[peer].ring(FutexScope::process);
      }
      return true;
    }
    const auto passed = [&] { return Protocol::passed(words, round); };
    if (patience == Patience::limited && choose(2) == 1) {
      if constexpr (requires { Protocol::withdraw(words, round, use.members); }) {
        return passed() || !Protocol::withdraw(words, round, use.members);
      }
    }
    if (bells.empty()) {
      while (!passed()) pause();
    } else {
      wait_on(bells[me], passed);
    }
    return true;
  }
};

template <class Protocol, class Words>
Report explore_barrier(const std::string& name, BarrierUse use, const Options& options = {}) {
  return explore(
      "barrier: " + name,
      [use](Scenario& scenario) {
        auto& world = scenario.make<BarrierWorld<Protocol, Words>>(scenario, use);
        for (std::uint64_t me = 0; me < use.members; ++me) {
          std::vector<Act> acts;
          for (std::uint64_t round = 1; round <= use.rounds; ++round) {
            acts.emplace_back([&world, me, round] { world.pass(me, round); });
          }
          scenario.thread("member " + std::to_string(me), std::move(acts));
        }
        scenario.at_end(
            [&world, use] { require(world.words.released.load() == use.rounds, "every round was released"); });
      },
      options);
}

}  // namespace baton::model
