// Domains over chips, and groups of tasks that wait for each other through them.
#include <atomic>

#include <gmock/gmock.h>

#include "node_fixture.hpp"
#include "node_kernels.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

class NodeDomains : public Node {
 protected:
  /// One round of sums in `domain`: member r adds 100 r + value. Results go to `out`, one for each chip of the node.
  static void submit_sum(Orchestration& o, const DomainHandle& domain, const Tensor& out, std::int64_t value,
                         std::int32_t round) {
    std::vector<TaskArgs> args;
    for (const int chip : domain.chips()) {
      const DomainMember& member = domain[chip];
      args.emplace_back()
          .add_tensor(member.buffer("cells").tensor, TensorArgType::inout)
          .add_tensor(member.buffer("arrived").tensor, TensorArgType::inout)
          .add_tensor(out.slice(chip, chip + 1), TensorArgType::output)
          .add_scalar(member.device_ctx)
          .add_scalar(value)
          .add_scalar(round);
    }
    o.submit_next_level_group(on_chip(node_sum), args, domain.chips());
  }
  static std::int64_t expected(int ranks, std::int64_t value) { return ranks * value + 100 * ranks * (ranks - 1) / 2; }
  static DomainHandle sum_domain(Orchestration& o, std::string_view name, const std::vector<int>& chips) {
    const CommBufferSpec buffers[] = {{"cells", DType::int64, chips.size()}, {"arrived", DType::int32, 1}};
    return o.allocate_domain(name, chips, 0, buffers);
  }
  static std::int64_t value_at(const Tensor& out, int chip) {
    return reinterpret_cast<std::int64_t*>(out.address())[chip];
  }
};

INSTANTIATE_TEST_SUITE_P(
    , NodeDomains,
    testing::ValuesIn(possible({NodeShape{Isolation::processes, 2}, NodeShape{Isolation::processes, 4},
                                NodeShape{Isolation::processes, 8}, NodeShape{Isolation::processes, 16},
                                NodeShape{Isolation::inproc, 2}, NodeShape{Isolation::inproc, 4},
                                NodeShape{Isolation::inproc, 8}, NodeShape{Isolation::inproc, 16}})),
    [](const auto& shape) { return name_of(shape.param); });

TEST_P(NodeDomains, CarryGroupsThatWaitForEachOther) {
  const Tensor out = worker.create_buffer(DType::int64, {chips()});
  for (int run = 1; run <= 2; ++run) {
    worker.run([&](Orchestration& o) {
      const DomainHandle domain = sum_domain(o, "all", all_chips());
      EXPECT_EQ(domain.size(), chips());
      for (int round = 1; round <= 5; ++round) submit_sum(o, domain, out, 10 * run + round, round);
    });
    for (int chip = 0; chip < chips(); ++chip) EXPECT_EQ(value_at(out, chip), expected(chips(), 10 * run + 5)) << chip;
  }
}

TEST_P(NodeDomains, OverlapAndNumberTheirMembersInTheirOwnOrder) {
  const Tensor even = worker.create_buffer(DType::int64, {chips()});
  const Tensor turned = worker.create_buffer(DType::int64, {chips()});
  std::vector<int> backwards = all_chips();
  std::reverse(backwards.begin(), backwards.end());
  worker.run([&](Orchestration& o) {
    const DomainHandle half = sum_domain(o, "half", {0, 1});
    const DomainHandle all = sum_domain(o, "turned", backwards);
    EXPECT_EQ(all[0].domain_rank, chips() - 1);
    EXPECT_EQ(all[chips() - 1].domain_rank, 0);
    EXPECT_EQ(half[1].domain_rank, 1);
    EXPECT_EQ(half[1].domain_size, 2);
    for (const DomainMember::Placed& placed : half[1].buffers) {
      EXPECT_EQ(placed.address % 64, 0U) << placed.name;
      EXPECT_EQ(placed.address, half[1].local_window_base + placed.offset);
    }
    EXPECT_GE(half[1].actual_window_size, half[1].buffer("arrived").offset + 4);
    for (int round = 1; round <= 3; ++round) {
      submit_sum(o, half, even, round, round);
      submit_sum(o, all, turned, 2 * round, round);
    }
  });
  EXPECT_EQ(value_at(even, 0), expected(2, 3));
  EXPECT_EQ(value_at(even, 1), expected(2, 3));
  for (int chip = 0; chip < chips(); ++chip) EXPECT_EQ(value_at(turned, chip), expected(chips(), 6)) << chip;
}

/// Two threads submit groups over the same chips, named in opposite orders.
TEST_P(NodeDomains, NeverDeadlockBecauseGroupsOfTwoRunsMeet) {
  const Tensor a = worker.create_buffer(DType::int64, {chips()});
  const Tensor b = worker.create_buffer(DType::int64, {chips()});
  std::vector<int> backwards = all_chips();
  std::reverse(backwards.begin(), backwards.end());
  const auto rounds = [](const Tensor& out, std::string_view name, const std::vector<int>& members) {
    return [out, name, members](Orchestration& o) {
      const DomainHandle domain = sum_domain(o, name, members);
      for (int round = 1; round <= 20; ++round) submit_sum(o, domain, out, round, round);
    };
  };
  const RunHandle first = worker.submit(rounds(a, "first", all_chips()));
  const RunHandle second = worker.submit(rounds(b, "second", backwards));
  first.result();
  second.result();
  for (int chip = 0; chip < chips(); ++chip) {
    EXPECT_EQ(value_at(a, chip), expected(chips(), 20));
    EXPECT_EQ(value_at(b, chip), expected(chips(), 20));
  }
}

TEST_P(NodeDomains, AreReleasedWhileTheirTasksRun) {
  const Tensor out = worker.create_buffer(DType::int64, {chips()});
  worker.run([&](Orchestration& o) {
    for (int i = 0; i < 6; ++i) {
      // The same name, over and over; each is gone before its tasks are.
      DomainHandle domain = sum_domain(o, "again", all_chips());
      submit_sum(o, domain, out, i, 1);
      const Tensor cells = domain[0].buffer("cells").tensor;
      domain.release();
      EXPECT_TRUE(domain.released());
      TaskArgs late;
      late.add_tensor(cells, TensorArgType::inout);
      require_error(Code::released, {"released"}, [&] { o.submit_next_level(nothing, late, 0); });
      require_error(Code::released, {"\"again\"", "released"}, [&] { static_cast<void>(domain[0]); });
    }
  });
  EXPECT_EQ(value_at(out, 0), expected(chips(), 5));
}

TEST_P(NodeDomains, SayWhoIsNoMemberAndWhatDoesNotFit) {
  worker.run([&](Orchestration& o) {
    const DomainHandle one = o.allocate_domain("one", {1}, 4096);
    EXPECT_FALSE(one.contains(0));
    require_error(Code::not_a_member, {"chip 0", "\"one\"", "members are chips 1"}, [&] { static_cast<void>(one[0]); });
    require_error(Code::invalid_argument, {"no buffer \"x\""}, [&] { static_cast<void>(one[1].buffer("x")); });
    require_error(Code::out_of_memory, {"\"small\"", "128", "64"}, [&] {
      static_cast<void>(o.allocate_domain("small", {0, 1}, 64, {{"a", DType::float32, 16}, {"b", DType::float32, 1}}));
    });
    require_error(Code::invalid_argument, {"chip 1 is named twice"}, [&] {
      static_cast<void>(o.allocate_domain("twice", {1, 1}, 64));
    });
    require_error(Code::out_of_range, {"no chip 77"},
                  [&] { static_cast<void>(o.allocate_domain("nobody", {77}, 64)); });
    const DomainHandle pair = o.allocate_domain("pair", {0, 1}, 0, {{"a", DType::float32, 16}});
    TaskArgs args;
    args.add_tensor(pair[0].buffer("a").tensor, TensorArgType::inout);
    require_error(Code::invalid_argument, {"chip 0", "\"pair\"", "for chip 1"},
                  [&] { o.submit_next_level(nothing, args, 1); });
  });
}

TEST_P(NodeDomains, TakeCopiesFromAndToTheHost) {
  // More than two chunks of the staging memory, and an odd rest.
  constexpr std::size_t kCount = (5U << 20U) / 4 + 7;
  std::vector<std::int32_t> in(kCount);
  std::iota(in.begin(), in.end(), 1);
  worker.run([&](Orchestration& o) {
    const DomainHandle domain = o.allocate_domain("data", {1, 0}, 0, {{"x", DType::int32, kCount}});
    const Tensor there = domain[1].buffer("x").tensor;
    o.copy_to<std::int32_t>(there, in);
    std::vector<std::int32_t> back(kCount);
    o.copy_from<std::int32_t>(back, there);
    EXPECT_EQ(back, in);
    std::vector<std::int32_t> other(kCount, 1);
    o.copy_from<std::int32_t>(other, domain[0].buffer("x").tensor);
    EXPECT_THAT(other, testing::Each(0));
    std::vector<std::int32_t> part(3);
    o.copy_from<std::int32_t>(part, there.slice(10, 13));
    EXPECT_THAT(part, testing::ElementsAre(11, 12, 13));
  });
}

/// All members of a group say that they write all of a host buffer. A reader waits for each of them, and each of them
/// waits for earlier readers.
TEST_P(NodeDomains, GroupsThatShareMemoryAreWaitedForAsAWhole) {
  const Tensor out = worker.create_buffer(DType::int64, {chips()});
  std::atomic<int> wrong{0};
  worker.run([&](Orchestration& o) {
    for (std::int64_t round = 1; round <= 5; ++round) {
      std::vector<TaskArgs> args;
      for (const int chip : all_chips()) {
        args.emplace_back()
            .add_tensor(out, TensorArgType::inout)
            .add_scalar(std::int64_t{chip})
            .add_scalar(round)
            .add_scalar(std::int64_t{chip == 0 ? 25 : 0});
      }
      o.submit_next_level_group(on_chip(node_set), args, all_chips());
      o.submit_sub(
          [&, round](const ChipArgs& sub) {
            for (int chip = 0; chip < chips(); ++chip) wrong += value_at(sub.tensor(0), chip) == round ? 0 : 1;
          },
          TaskArgs().add_tensor(out, TensorArgType::input));
    }
  });
  EXPECT_EQ(wrong, 0);
}

/// Also when the last of them, which hides the others, has ended long before the first.
TEST_P(NodeDomains, GroupsThatShareMemoryAreWaitedForInAnyOrder) {
  const Tensor out = worker.create_buffer(DType::int64, {chips()});
  const Tensor behind = worker.create_buffer(DType::int64, {1});
  const auto set = [](const Tensor& tensor, std::int64_t index, std::int64_t value, std::int64_t late) {
    return TaskArgs().add_tensor(tensor, TensorArgType::inout).add_scalar(index).add_scalar(value).add_scalar(late);
  };
  /// Submits a group, and returns when its last member has ended.
  const auto submit_group = [&](Orchestration& o, std::int64_t value) {
    std::vector<TaskArgs> args;
    for (const int chip : all_chips()) args.push_back(set(out, chip, value, chip == 0 ? 100 : 0));
    const TaskId group = o.submit_next_level_group(on_chip(node_set), args, all_chips());
    // A chip works in the order of submission.
    o.wait(o.submit_next_level(on_chip(node_set), set(behind, 0, value, 0), chips() - 1));
    return group;
  };
  std::int64_t seen = 0;
  std::vector<std::int64_t> copied(static_cast<std::size_t>(chips()));
  worker.run([&](Orchestration& o) {
    static_cast<void>(submit_group(o, 1));
    o.wait(o.submit_sub([&](const ChipArgs& sub) { seen = value_at(sub.tensor(0), 0); },
                        TaskArgs().add_tensor(out, TensorArgType::input)));
    EXPECT_EQ(seen, 1);
    static_cast<void>(submit_group(o, 2));
    o.copy_from<std::int64_t>(copied, out);
    EXPECT_EQ(copied.front(), 2);
    o.wait(submit_group(o, 3));
    EXPECT_EQ(value_at(out, 0), 3);
  });
}

}  // namespace
}  // namespace baton::test
