// What ranks do in the tests of failures. Each step is a place where one of them may end.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include <baton/join.hpp>

#include "comm/address_book.hpp"
#include "comm/domain_state.hpp"
#include "comm/window_state.hpp"
#include "ending.hpp"
#include "job/connect.hpp"
#include "support/rank_program.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"
#include "wire/segment.hpp"

namespace {

using namespace baton;
using namespace baton::test;

const Wishes kProcesses = {.sizes = {4}, .hostings = {Hosting::processes}};

/// SIGUSR1, with which the test lets a rank go that stays.
class StaySignal {
 public:
  StaySignal() {
    ::sigemptyset(&set_);
    ::sigaddset(&set_, SIGUSR1);
    ::sigprocmask(SIG_BLOCK, &set_, nullptr);
  }
  void wait() const {
    int signal = 0;
    ::sigwait(&set_, &signal);
  }

 private:
  sigset_t set_{};
};

void live(Domain me) {
  const int rank = me.rank();
  reach("joined", rank);
  const Signals signals = me.signals("signals", 2);
  RawWindow window = me.raw_window("window", 65'536);
  reach("allocated", rank);
  me.barrier();
  reach("after_barrier", rank);
  const int right = (rank + 1) % me.size();
  // Hand in hand: each waits for its left neighbour, so one that ends here stops all.
  for (int round = 1; round <= 20; ++round) {
    if (round == 10) reach("waiting", rank);
    signals.notify(right, 0);
    signals.wait(0, WaitCmp::ge, round);
  }
  const std::array<char, 1024> block{};
  for (std::size_t i = 0; i < 1000; ++i) {
    window.put(right, (i % 64) * 1024, block.data(), block.size());
    if (i == 500) reach("putting", rank);
  }
  for (int peer = 0; peer < me.size(); ++peer) signals.notify(peer, 1);
  signals.wait(1, WaitCmp::ge, me.size());
  reach("before_release", rank);
  window.release();
  reach("after_release", rank);
  const int all[4] = {3, 1, 2, 0};
  Domain again = me.subset("again", all);
  reach("in_subset", rank);
  again.barrier();
  reach("after_everything", rank);
}

}  // namespace

SCENARIO_BEFORE_JOIN(Life, kProcesses) {
  survives_with_error([&] {
    // The handle is gone before the end is told: nobody is needed any more.
    live(join_and_tell(me));
  });
  tell("ended");
}

/// Rank 0 makes the segment of an allocation and ends before it arrives; or another takes it and ends.
SCENARIO_BEFORE_JOIN(HalfAnAllocation, kProcesses) {
  survives_with_error([&] {
    const auto world = job::connect(me.rendezvous, me.rank, me.size, options());
    const auto domain = comm::DomainState::of_world(world);
    const wire::AllocationKey key{domain->id(), 0};
    if (me.rank == 0) {
      reach("before_offer", me.rank);
      const wire::SegmentShape shape = wire::segment_shape(4, 64, comm::page_bytes());
      const std::vector<std::uint32_t> others = {1, 2, 3};
      const auto segment = world->backend().offer(key, shape.bytes, others, Deadline::after(std::chrono::seconds(10)),
                                                  [&](void* memory) {
                                                    auto& header = *static_cast<wire::SegmentHeader*>(memory);
                                                    header.magic = wire::kSegmentMagic;
                                                    header.version = wire::kSegmentVersion;
                                                    header.member_count = 4;
                                                    header.key = key;
                                                    header.part_bytes = shape.part_bytes;
                                                    header.part_stride = shape.part_stride;
                                                    header.first_part = shape.first_part;
                                                    header.bytes = shape.bytes;
                                                  });
      reach("offered", me.rank);
      // Never arrives: waits for the death of another.
      static_cast<void>(domain->wait([] { return false; }, Deadline::after(std::chrono::seconds(60)),
                                     [] { return comm::WaitDescription{}; }, comm::WaitsOn::every_member));
      return;
    }
    if (me.rank == 2) {
      std::shared_ptr<comm::SharedMemory> segment;
      const auto came = [&] { return (segment = world->backend().collect(key)) != nullptr; };
      static_cast<void>(domain->wait(
          came, Deadline::after(std::chrono::seconds(60)), [] { return comm::WaitDescription{}; },
          comm::WaitsOn::every_member));
      reach("collected", me.rank);
    }
    static_cast<void>(Domain(domain).raw_window("w", 64));
  });
}

/// Everything at once, without end, until somebody dies.
SCENARIO_BEFORE_JOIN(BusyUntilDeath, kProcesses) {
  survives_with_error([&] {
    Domain domain = join_and_tell(me);
    const std::vector<int> all = {2, 0, 3, 1};
    const Signals signals = domain.signals("s", 1);
    tell("busy");
    for (int round = 1;; ++round) {
      RawWindow window = domain.raw_window("w", 4096);
      const Domain subset = domain.subset("sub", all);
      window.put((me.rank + 1) % 4, 0, &round, sizeof round);
      signals.notify((me.rank + 1) % 4, 0);
      signals.wait(0, WaitCmp::ge, round);
      if (round % 3 == 0) window.release();
      domain.barrier();
    }
  });
}

/// Rank 0 ends first; the others go on without it in a domain of their own, until rank 2 ends too.
SCENARIO_BEFORE_JOIN(OneAfterTheOther, kProcesses) {
  Domain domain = join_and_tell(me);
  const std::vector<int> rest = {3, 2, 1};
  Domain others = me.rank == 0 ? Domain() : domain.subset("rest", rest);
  if (me.rank == 0) reach("first", 0);
  survives_with_error([&] { domain.barrier(); });
  // What rank 0 had to do with is over; the others are not.
  const Signals signals = others.signals("s", 1);
  for (int round = 1; round <= 100; ++round) {
    signals.notify((others.rank() + 1) % 3, 0);
    signals.wait(0, WaitCmp::ge, round);
    others.barrier();
  }
  tell("went on");
  if (me.rank == 2) {
    tell("dying too");
    static_cast<void>(std::raise(SIGKILL));
  }
  survives_with_error([&] { others.barrier(); });
}

/// Waits for a signal that rank 1 sends once the test lets it, for as long as BATON_WAIT_TIMEOUT allows. A rank that
/// gives up stays until the test has seen all reports, so that no departure mixes with them.
SCENARIO_BEFORE_JOIN(WaitsForRankOne, kProcesses) {
  const StaySignal stay;
  Domain domain = join_and_tell(me);
  const Signals signals = domain.signals("s", 1);
  domain.barrier();
  tell("waiting");
  if (me.rank == 1) {
    // Stopped here, until the test continues it.
    ::raise(SIGSTOP);
    for (int peer = 0; peer < me.size; ++peer) signals.notify(peer, 0);
  }
  if (survives_with_error([&] { signals.wait(0, WaitCmp::ge, 1); })) {
    stay.wait();
  } else {
    tell("done");
  }
}

/// For ranks that do not reach each other. Rank 0 gives up first.
SCENARIO_BEFORE_JOIN(WaitsInVain, kProcesses) {
  survives_with_error([&] { join_and_tell(me).barrier(std::chrono::seconds(me.rank == 0 ? 1 : 100)); });
}

/// Rank 1 stops. Rank 0 puts to all others and gets from them at the same time: all of that is on its way together, and
/// what goes on with ranks that live is over while rank 1 is silent.
SCENARIO_BEFORE_JOIN(TransfersToStopped, kProcesses) {
  constexpr std::size_t kBytes = std::size_t{1} << 22;
  const StaySignal go;
  survives_with_error([&] {
    Domain domain = join_and_tell(me);
    const RawWindow window = domain.raw_window("window", 2 * kBytes);
    std::ranges::fill(std::span(window.local(), 2 * kBytes), static_cast<std::byte>(me.rank));
    // A stopped rank does not answer those that do not know it yet.
    for (int peer = 0; peer < me.size; ++peer) window.put(peer, 0, &me.rank, sizeof me.rank);
    domain.barrier();
    if (me.rank == 1) ::raise(SIGSTOP);
    if (me.rank == 0) {
      go.wait();
      const auto place = comm::find_window(comm::DomainAccess::state(domain)->world(), window.local(), 1);
      const std::vector<std::byte> from(kBytes, std::byte{7});
      std::array<std::vector<std::byte>, 4> to;
      std::array<std::unique_ptr<Transfer>, 4> puts;
      std::array<std::unique_ptr<Transfer>, 4> gets;
      for (const std::size_t peer : {1U, 2U, 3U}) {
        to[peer].resize(kBytes);
        puts[peer] = place->window->start_send(static_cast<int>(peer), 0, from.data(), kBytes);
        gets[peer] = place->window->start_fetch(static_cast<int>(peer), kBytes, to[peer].data(), kBytes);
      }
      for (const std::size_t peer : {2U, 3U}) {
        for (Transfer* const one : {puts[peer].get(), gets[peer].get()}) {
          while (!one->is_over()) ::sched_yield();
          one->end();
        }
        REQUIRE_EQUAL(to[peer] == std::vector<std::byte>(kBytes, static_cast<std::byte>(peer)), true);
      }
      REQUIRE_EQUAL(puts[1]->is_over() || gets[1]->is_over(), false);
      tell("others done");
      for (Transfer* const one : {puts[1].get(), gets[1].get()}) {
        survives_with_error([&] {
          while (!one->is_over()) ::sched_yield();
          one->end();
        });
      }
      for (const int peer : {2, 3}) {
        std::byte there{};
        window.get(peer, kBytes - 1, &there, 1);
        REQUIRE_EQUAL(there == std::byte{7}, true);
      }
    }
    domain.barrier();
  });
}

/// Joins and leaves.
SCENARIO_BEFORE_JOIN(Joins, kProcesses) {
  survives_with_error([&] {
    Domain domain = join_and_tell(me);
    domain.barrier();
    tell("joined");
  });
}

/// The same, for tests in which somebody does not come.
SCENARIO_BEFORE_JOIN(JoinsSoon, {.sizes = {4}, .join_timeout = "3s", .hostings = {Hosting::processes}}) {
  survives_with_error([&] { join_and_tell(me).barrier(); });
}

/// Stays in the job, whatever happens there, until the test sends SIGUSR1.
SCENARIO_BEFORE_JOIN(JoinsAndStays, kProcesses) {
  const StaySignal stay;
  survives_with_error([&] {
    Domain domain = join_and_tell(me);
    domain.barrier();
    tell("joined");
    reach("joined", me.rank);
    if (std::getenv("TEST_VICTIMS") != nullptr) survives_with_error([&] { domain.barrier(); });
    stay.wait();
  });
}

#if !defined(BATON_SANITIZE_THREAD)
/// A rank that forks: the child is no rank, whatever it does with its copies.
SCENARIO_BEFORE_JOIN(Forks, kProcesses) {
  Domain domain = join_and_tell(me);
  const Signals signals = domain.signals("s", 1);
  for (int round = 1; round <= 3; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      domain = Domain();
      // With all destructors of static objects.
      std::exit(0);
    }
    int status = 0;
    REQUIRE_EQUAL(::waitpid(child, &status, 0), child);
    REQUIRE_EQUAL(status, 0);
    signals.notify((me.rank + 1) % me.size, 0);
    signals.wait(0, WaitCmp::ge, round);
    domain.barrier();
  }
}
#endif
