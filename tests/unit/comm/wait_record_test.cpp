#include "comm/wait_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>

#include "support/scale.hpp"
#include "wire/names.hpp"

namespace baton::comm {
namespace {

TEST(WaitRecord, IsReadBack) {
  wire::WaitRecord record{};
  EXPECT_FALSE(read_wait(record));
  ASSERT_TRUE(write_wait(record, {wire::Operation::waiting, "scratch", 3, WaitCmp::ge, 7, 123}));
  const auto wait = read_wait(record);
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->operation, wire::Operation::waiting);
  EXPECT_EQ(wait->object, "scratch");
  EXPECT_EQ(wait->index, 3U);
  EXPECT_EQ(wait->comparison, WaitCmp::ge);
  EXPECT_EQ(wait->needs, 7);
  EXPECT_EQ(wait->since_ns, 123);
  clear_wait(record);
  EXPECT_FALSE(read_wait(record));
}

TEST(WaitRecord, ForeignBytesAreNoWait) {
  wire::WaitRecord record{};
  ASSERT_TRUE(write_wait(record, {wire::Operation::waiting, "x", 0, WaitCmp::ge, 0, 0}));
  record.operation.store(999);
  EXPECT_FALSE(read_wait(record));
  record.operation.store(static_cast<std::uint32_t>(wire::Operation::waiting));
  EXPECT_TRUE(read_wait(record));
  record.comparison.store(6);
  EXPECT_FALSE(read_wait(record));
  record.comparison.store(-1);
  EXPECT_FALSE(read_wait(record));
  record.comparison.store(0);
  // A writer that died in the middle.
  record.version.store(5);
  EXPECT_FALSE(read_wait(record));
}

// A reader sees one wait or the other, never half of each.
TEST(WaitRecord, IsNeverTorn) {
  wire::WaitRecord record{};
  std::atomic<bool> stop{false};
  const std::jthread writer([&] {
    const WaitDescription one{wire::Operation::waiting, std::string(48, 'a'), 1, WaitCmp::eq, 1, 1};
    const WaitDescription two{wire::Operation::in_barrier, std::string(48, 'b'), 2, WaitCmp::ne, 2, 2};
    while (!stop.load()) {
      // With a breath in between, or a reader on another processor would never see it unchanged.
      ASSERT_TRUE(write_wait(record, one));
      for (int i = 0; i < 10'000; ++i) static_cast<void>(stop.load());
      clear_wait(record);
      ASSERT_TRUE(write_wait(record, two));
      for (int i = 0; i < 10'000; ++i) static_cast<void>(stop.load());
      clear_wait(record);
    }
  });
  int seen = 0;
  while (seen < test::scaled(20'000)) {
    const auto wait = read_wait(record);
    if (!wait) continue;
    ++seen;
    const bool one = wait->index == 1;
    ASSERT_EQ(wait->object, std::string(48, one ? 'a' : 'b'));
    ASSERT_EQ(wait->operation, one ? wire::Operation::waiting : wire::Operation::in_barrier);
    ASSERT_EQ(wait->comparison, one ? WaitCmp::eq : WaitCmp::ne);
    ASSERT_EQ(wait->needs, one ? 1 : 2);
    ASSERT_EQ(wait->since_ns, one ? 1 : 2);
  }
  stop.store(true);
}

TEST(WaitRecord, KnowsTheDomainWhoWaitsAndForHowLong) {
  wire::WaitRecord record{};
  WaitDescription wait{wire::Operation::waiting, "flags", 0, WaitCmp::ge, 7, 1};
  wait.names_buffer = wait.is_patient = true;
  wait.actor = "kernel 'ring' on vector core 3.1";
  ASSERT_TRUE(write_wait(record, wait, {"tp", {4, 5, 6, 9}}));
  const auto read = read_wait(record);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->domain, "tp");
  EXPECT_THAT(read->members, testing::ElementsAre(4U, 5U, 6U, 9U));
  EXPECT_TRUE(read->knows_members && read->names_buffer && read->is_patient);
  EXPECT_EQ(read->actor, "kernel 'ring' on vector core 3.1");
  EXPECT_EQ(describe(*read), "flags[0] of domain \"tp\" >= 7");
  wire::store_text(record.members, "3-1,x");
  EXPECT_FALSE(read_wait(record)->knows_members);
}

TEST(WaitRecord, ThreadsOfARankHaveRecordsOfTheirOwnAndFurtherOnesAreCounted) {
  wire::RankBlock block{};
  std::array<WaitEntry, wire::kWaitRecords> entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].begin(block, {wire::Operation::waiting, "x", i, WaitCmp::ge, 0, static_cast<std::int64_t>(100 - i)});
  }
  EXPECT_EQ(block.unlisted_waits.load(), 0U);
  EXPECT_EQ(read_waits(block).size(), wire::kWaitRecords);
  EXPECT_EQ(read_waits(block).front().index, wire::kWaitRecords - 1);  // the longest
  WaitDescription patient{wire::Operation::waiting, "y", 0, WaitCmp::ge, 0, 1};
  patient.is_patient = true;
  {
    WaitEntry further;
    further.begin(block, patient);
    WaitEntry impatient;
    impatient.begin(block, {wire::Operation::waiting, "y", 0, WaitCmp::ge, 0, 1});
    EXPECT_EQ(block.unlisted_waits.load(), 2U);
    EXPECT_EQ(block.unlisted_impatient.load(), 1U);
  }
  EXPECT_EQ(block.unlisted_waits.load(), 0U);
  EXPECT_EQ(block.unlisted_impatient.load(), 0U);
  entries[1].end();
  WaitEntry next;
  next.begin(block, patient);
  EXPECT_EQ(block.unlisted_waits.load(), 0U);
  EXPECT_EQ(read_waits(block).front().object, "y");
}

TEST(WaitRecord, IsDescribedInWords) {
  EXPECT_EQ(describe({wire::Operation::waiting, "scratch", 3, WaitCmp::ge, 7, 0}), "signal 3 of \"scratch\" >= 7");
  EXPECT_EQ(describe({wire::Operation::in_barrier, "world", 12, WaitCmp::ge, 0, 0}), "barrier 12 of \"world\"");
  EXPECT_EQ(describe({wire::Operation::allocating, "w", 0, WaitCmp::ge, 0, 0}), "the allocation of \"w\"");
  EXPECT_EQ(describe({wire::Operation::in_collective, "world", 3, WaitCmp::ge, 0, 0}), "rank 3 of \"world\"");
  EXPECT_EQ(describe({wire::Operation::in_collective, "world", kAllRanks, WaitCmp::ge, 0, 0}),
            "all ranks of \"world\"");
  EXPECT_EQ(describe({wire::Operation::joining, "job", 0, WaitCmp::ge, 0, 0}), "the other ranks of \"job\"");
}

TEST(DescribeDuration, ChoosesItsUnit) {
  EXPECT_EQ(describe_duration(0), "0 us");
  EXPECT_EQ(describe_duration(850'000), "850 us");
  EXPECT_EQ(describe_duration(30'000'000), "30 ms");
  EXPECT_EQ(describe_duration(1'234'000'000), "1.23 s");
  EXPECT_EQ(describe_duration(30'000'000'000), "30 s");
  EXPECT_EQ(describe_duration(210'000'000'000), "3.5 min");
}

}  // namespace
}  // namespace baton::comm
