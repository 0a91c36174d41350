// Streamed tasks on cores, held against a machine whose cores go on in any order that waits allow, and of which the
// host sees as much as chance has it.
#include "platform/cuda/assignment.hpp"

#include <deque>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace {

using baton::cuda::Assignment;
using baton::cuda::Awaited;

/// What Residence tells of cores.
class Machine {
 public:
  struct Command {
    std::uint32_t task;
    std::vector<Awaited> awaited;
  };

  Machine(std::size_t cores, unsigned seed)
      : queues_(cores), given_(cores), ended_(cores), seen_(cores), chance_(seed) {}

  [[nodiscard]] std::uint64_t given(std::size_t core) const { return given_[core]; }
  [[nodiscard]] std::uint64_t load(std::size_t core) const { return given_[core] - seen_[core]; }
  [[nodiscard]] bool was_seen_to_end(std::size_t core, std::uint64_t commands) const { return seen_[core] >= commands; }
  void look_at_all() {
    for (std::size_t core = 0; core < seen_.size(); ++core) look(core);
  }
  void look(std::size_t core) { seen_[core] += chance_() % (ended_[core] - seen_[core] + 1); }

  void give(std::size_t core, Command command) {
    queues_[core].push_back(std::move(command));
    ++given_[core];
  }
  [[nodiscard]] bool is_idle() const {
    return std::ranges::all_of(queues_, [](const auto& queue) { return queue.empty(); });
  }
  /// One core ends a command; nothing if all wait. `ended(task)` is called then.
  template <class Ended>
  [[nodiscard]] bool go_on(Ended&& ended) {
    const std::size_t first = chance_() % queues_.size();
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      const std::size_t core = (first + i) % queues_.size();
      if (queues_[core].empty()) continue;
      const Command& command = queues_[core].front();
      const bool may = std::ranges::all_of(command.awaited, [&](const Awaited& awaited) {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(ended_[awaited.core]) - awaited.ended) >= 0;
      });
      if (!may) continue;
      ended(command.task);
      queues_[core].pop_front();
      ++ended_[core];
      return true;
    }
    return false;
  }

 private:
  std::vector<std::deque<Command>> queues_;
  std::vector<std::uint64_t> given_;
  std::vector<std::uint64_t> ended_;
  std::vector<std::uint64_t> seen_;
  std::mt19937 chance_;
};

TEST(Assignment, KeepsTheOrderOfRandomTasksUnderAnySchedule) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 generator(seed);
    const std::size_t cores = 1 + generator() % 12;
    constexpr std::uint64_t kRoom = 5;
    Machine machine(cores, seed);
    Assignment assignment(cores);
    std::vector<std::vector<std::uint32_t>> before;
    std::vector<std::uint32_t> left;  // of each task: blocks that have not ended
    const auto end = [&](std::uint32_t task) {
      for (const std::uint32_t earlier : before[task]) ASSERT_EQ(left[earlier], 0U) << task << " after " << earlier;
      --left[task];
    };
    for (std::uint32_t task = 0; task < 400; ++task) {
      if (task == 200) {  // numbers begin anew
        while (!machine.is_idle()) ASSERT_TRUE(machine.go_on(end)) << "all cores wait";
        machine.look_at_all();
        assignment.end_tasks();
        before.clear();
        left.clear();
      }
      const auto number = static_cast<std::uint32_t>(before.size());
      std::vector<std::uint32_t> predecessors;
      for (std::size_t i = 0; number > 0 && i < generator() % 6; ++i)
        predecessors.push_back(static_cast<std::uint32_t>(generator() % number));
      std::ranges::sort(predecessors);
      predecessors.erase(std::unique(predecessors.begin(), predecessors.end()), predecessors.end());
      const std::uint32_t blocks = generator() % 6 == 0 ? static_cast<std::uint32_t>(1 + generator() % cores) : 1;
      assignment.begin_task();
      const std::size_t first = blocks == 1 ? assignment.core_for(machine, predecessors) : assignment.cores_for(blocks);
      before.push_back(predecessors);
      left.push_back(blocks);
      for (std::uint32_t block = 0; block < blocks; ++block) {
        const std::size_t core = (first + block) % cores;
        while (machine.load(core) >= kRoom) {
          static_cast<void>(machine.go_on(end));
          machine.look(core);
          if (HasFatalFailure()) return;
        }
        const auto awaited = assignment.awaited_by(core, machine, predecessors);
        machine.give(core, {number, {awaited.begin(), awaited.end()}});
        assignment.add_block(core, machine.given(core));
      }
      while (generator() % 3 == 0 && machine.go_on(end)) {
      }
    }
    while (!machine.is_idle()) {
      ASSERT_TRUE(machine.go_on(end)) << "all cores wait";
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Assignment, KeepsAChainOnOneCoreThatWaitsForNobody) {
  Machine machine(8, 1);
  Assignment assignment(8);
  for (std::uint32_t task = 0; task < 50; ++task) {
    const std::vector<std::uint32_t> before(task == 0 ? 0 : 1, task - 1);
    assignment.begin_task();
    const std::size_t core = assignment.core_for(machine, before);
    EXPECT_EQ(core, 0U);
    EXPECT_TRUE(assignment.awaited_by(core, machine, before).empty());
    machine.give(core, {task, {}});
    assignment.add_block(core, machine.given(core));
  }
}

TEST(Assignment, SpreadsWhatIsIndependent) {
  Machine machine(8, 1);
  Assignment assignment(8);
  for (std::uint32_t task = 0; task < 80; ++task) {
    assignment.begin_task();
    const std::size_t core = assignment.core_for(machine, {});
    machine.give(core, {task, {}});
    assignment.add_block(core, machine.given(core));
  }
  for (std::size_t core = 0; core < 8; ++core) EXPECT_EQ(machine.given(core), 10U);
}

TEST(Assignment, WaitsOnceForWhatItKnows) {
  Machine machine(2, 1);
  Assignment assignment(2);
  const auto add = [&](std::size_t core, std::span<const std::uint32_t> before) {
    assignment.begin_task();
    const std::size_t awaited = assignment.awaited_by(core, machine, before).size();
    machine.give(core, {0, {}});
    assignment.add_block(core, machine.given(core));
    return awaited;
  };
  const std::vector<std::uint32_t> after_first = {0};
  const std::vector<std::uint32_t> after_both = {0, 1};
  EXPECT_EQ(add(0, {}), 0U);
  EXPECT_EQ(add(0, {}), 0U);
  EXPECT_EQ(add(1, after_both), 1U);
  EXPECT_EQ(add(1, after_first), 0U);
}

}  // namespace
