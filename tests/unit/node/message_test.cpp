// Messages between a node and its chips.
#include "node/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/start_message.hpp"

namespace baton::node {
namespace {

TEST(Message, IsReadAsItWasWritten) {
  MessageWriter writer;
  for (int round = 0; round < 2; ++round) {
    writer.begin(MessageKind::run);
    writer.put(std::uint64_t{7});
    writer.put_text("odd");
    writer.put(std::int32_t{-1});
    const auto record = writer.finish();
    EXPECT_EQ(record.size() % kRecordAlign, 0U);
    MessageReader reader(record);
    EXPECT_EQ(reader.kind(), MessageKind::run);
    EXPECT_EQ(reader.get<std::uint64_t>(), 7U);
    EXPECT_EQ(reader.get_text(), "odd");
    EXPECT_EQ(reader.get<std::int32_t>(), -1);
    EXPECT_EQ(reader.get<std::uint64_t>(), 0U) << "behind the end";
    EXPECT_EQ(reader.get_text(), "");
  }
}

TEST(Message, CarriesErrorsWhole) {
  MessageWriter writer;
  writer.begin(MessageKind::failure);
  put_failure(writer,
              failure_of(std::make_exception_ptr(Error(Code::peer_died, "it died", {"first", "second"}, "Run."))));
  MessageReader reader(writer.finish());
  const Failure failure = get_failure(reader);
  EXPECT_EQ(failure.code, Code::peer_died);
  EXPECT_EQ(failure.message, "it died");
  EXPECT_EQ(failure.remedy, "Run.");
  EXPECT_THAT(failure.notes, testing::ElementsAre("first", "second"));
  EXPECT_EQ(failure_of(std::make_exception_ptr(std::runtime_error("other"))).message, "other");
  EXPECT_EQ(failure_of(std::make_exception_ptr(1)).code, Code::internal);
}

TEST(Message, CarriesTheStartOfAChip) {
  MessageWriter writer;
  const StartMessage start{
      .size = 3, .job = "job", .launcher = "slot", .node = {12, 34}, .chip = {.platform = "a5sim", .clusters = 2}};
  put_start(writer, start);
  MessageReader reader(writer.finish());
  const StartMessage read = get_start(reader);
  EXPECT_EQ(read.size, 3);
  EXPECT_EQ(read.job, "job");
  EXPECT_EQ(read.launcher, "slot");
  EXPECT_EQ(read.node, start.node);
  EXPECT_EQ(read.chip.platform, "a5sim");
  EXPECT_EQ(read.chip.clusters, 2);
}

}  // namespace
}  // namespace baton::node
