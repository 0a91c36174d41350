// Frames and messages: what was written is read, and nothing else is.
#include "job/frames.hpp"

#include <gtest/gtest.h>

#include <baton/error.hpp>
#include <limits>

#include "job/hosts/messages.hpp"
#include "job/node_messages.hpp"
#include "job/rank_messages.hpp"

namespace baton::job {
namespace {

/// The one frame in `bytes`.
FrameReader only_frame(FrameAssembler& assembler, std::string_view bytes) {
  assembler.add(bytes);
  auto frame = assembler.next();
  EXPECT_TRUE(frame);
  return *frame;
}

TEST(Frames, ComeWholeHoweverTheyAreCut) {
  const std::string bytes = FrameWriter(FrameKind::signal).put(std::int32_t{-5}).finish() +
                            FrameWriter(FrameKind::heartbeat).finish() +
                            FrameWriter(FrameKind::refused).put_text("why not").finish();
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    FrameAssembler assembler;
    std::vector<FrameKind> kinds;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      assembler.add(std::string_view(bytes).substr(at, piece));
      while (auto frame = assembler.next()) {
        kinds.push_back(frame->kind());
        if (frame->kind() == FrameKind::signal) {
          EXPECT_EQ(frame->get<std::int32_t>(), -5);
        } else if (frame->kind() == FrameKind::refused) {
          EXPECT_EQ(frame->get_text(), "why not");
        }
        EXPECT_NO_THROW(frame->expect_end());
      }
    }
    EXPECT_EQ(kinds, (std::vector{FrameKind::signal, FrameKind::heartbeat, FrameKind::refused})) << piece;
  }
}

TEST(Frames, WhatIsTooShortTooLongOrTooLargeIsRefused) {
  FrameAssembler assembler;
  FrameReader frame = only_frame(assembler, FrameWriter(FrameKind::signal).put(std::uint8_t{1}).finish());
  EXPECT_THROW(static_cast<void>(frame.get<std::uint32_t>()), Error);
  FrameReader text(FrameKind::refused, std::string_view("\xff\xff\xff\xff", 4));
  EXPECT_THROW(static_cast<void>(text.get_text()), Error);
  FrameReader texts(FrameKind::refused, std::string_view("\xff\xff\xff\xff", 4));
  EXPECT_THROW(static_cast<void>(texts.get_texts()), Error);
  FrameReader rest(FrameKind::refused, "x");
  EXPECT_THROW(rest.expect_end(), Error);
  FrameAssembler other;
  other.add("GET / HTTP/1.1\r\n");
  EXPECT_THROW(static_cast<void>(other.next()), Error);
  EXPECT_THROW(static_cast<void>(FrameWriter(FrameKind::output).put_rest(std::string(kMaxFrameBody + 1, 'x')).finish()),
               Error);
}

TEST(Messages, AreReadAsTheyWereWritten) {
  FrameAssembler assembler;
  const JobOrder order{.job = "job",
                       .folder = "/tmp",
                       .command = {"program", "", "an argument"},
                       .environment = {"A=1"},
                       .size = 5,
                       .host = 1,
                       .hosts = {{"a", 0, 3}, {"b", 3, 2}},
                       .bind = true};
  FrameReader frame = only_frame(assembler, encode(order));
  const JobOrder read = decode_job(frame);
  EXPECT_EQ(read.command, order.command);
  EXPECT_EQ(read.hosts[1].name, "b");
  EXPECT_EQ(read.hosts[1].first_rank, 3);
  EXPECT_TRUE(read.bind);
  EXPECT_EQ(read.node, 0);

  NodeOrder for_node{.program = "chip", .folder = "/", .environment = {"B=2"}, .hosts = {{"a", 0, 2}}};
  for_node.patience_ns = 7;
  FrameReader node_frame = only_frame(assembler, encode(for_node));
  const NodeOrder of_node = decode_node_order(node_frame);
  EXPECT_EQ(of_node.program, "chip");
  EXPECT_EQ(of_node.hosts.front().count, 2);
  EXPECT_EQ(of_node.patience_ns, 7);

  RankEnding ending;
  ending.rank = 4;
  ending.status = 9;
  ending.when = Deadline::Clock::now() - std::chrono::seconds(3);
  RankSnapshot& seen = ending.last_seen.emplace();
  seen.rank = 4;
  seen.reason = "enough";
  seen.ended_ns = comm::monotonic_ns() - 5'000'000'000;
  seen.wait.emplace().object = "scratch";
  seen.wait->needs = -7;
  FrameReader end_frame = only_frame(assembler, encode(ending));
  const RankEnding ended = decode_ended(end_frame);
  EXPECT_EQ(ended.status, 9);
  EXPECT_EQ(ended.last_seen->reason, "enough");
  EXPECT_EQ(ended.last_seen->wait->object, "scratch");
  EXPECT_EQ(ended.last_seen->wait->needs, -7);
  // Ages are kept, whatever the clock of the other host says.
  EXPECT_NEAR(static_cast<double>((Deadline::Clock::now() - ended.when).count()), 3e9, 1e9);
  EXPECT_NEAR(static_cast<double>(comm::monotonic_ns() - ended.last_seen->ended_ns), 5e9, 1e9);
}

TEST(Messages, AnAgeThatIsNoneIsRefused) {
  const auto decode = [](std::int64_t age) {
    FrameAssembler assembler;
    FrameReader frame = only_frame(
        assembler,
        FrameWriter(FrameKind::ended).put(std::int32_t{4}).put(std::int32_t{9}).put(age).put(std::uint8_t{0}).finish());
    return decode_ended(frame);
  };
  EXPECT_EQ(decode(0).rank, 4);
  EXPECT_THROW(static_cast<void>(decode(-1)), Error);
  EXPECT_THROW(static_cast<void>(decode(std::numeric_limits<std::int64_t>::min() + 100)), Error);
  EXPECT_THROW(static_cast<void>(decode(std::numeric_limits<std::int64_t>::max())), Error);
}

TEST(Messages, AnOrderThatContradictsItselfIsRefused) {
  const auto refused = [](std::vector<HostShare> hosts, std::uint32_t size, std::uint32_t host, std::int32_t node = 0) {
    const JobOrder order{.job = "job",
                         .folder = "/",
                         .command = {"p"},
                         .environment = {},
                         .size = size,
                         .host = host,
                         .hosts = std::move(hosts),
                         .bind = false,
                         .node = node};
    FrameAssembler assembler;
    FrameReader frame = only_frame(assembler, encode(order));
    try {
      static_cast<void>(decode_job(frame));
      return false;
    } catch (const Error& error) {
      return error.code() == Code::protocol;
    }
  };
  EXPECT_FALSE(refused({{"a", 0, 1}, {"b", 1, 1}}, 2, 1));
  EXPECT_TRUE(refused({{"a", 0, 1}, {"b", 1, 1}}, 2, 2));
  EXPECT_TRUE(refused({{"a", 0, 1}, {"b", 1, 1}}, 3, 0));
  EXPECT_TRUE(refused({{"a", 0, 1}, {"b", 2, 1}}, 2, 0));
  EXPECT_TRUE(refused({{"a", 0, 0}, {"b", 0, 2}}, 2, 0));
  EXPECT_TRUE(refused({}, 0, 0));
  // A node is the only rank of the last host, and there are others.
  EXPECT_FALSE(refused({{"a", 0, 2}, {"n", 2, 1}}, 3, 0, 4711));
  EXPECT_TRUE(refused({{"a", 0, 1}, {"n", 1, 2}}, 3, 0, 4711));
  EXPECT_TRUE(refused({{"n", 0, 1}}, 1, 0, 4711));
}

TEST(Messages, AWelcomeNamesOnlyHostsThatAreThere) {
  FrameAssembler assembler;
  FrameReader good =
      only_frame(assembler, encode(Welcome{.job = "j", .hosts = {"a", "b"}, .host_of = {0, 1, 1}, .address = ""}));
  EXPECT_EQ(decode_welcome(good).host_of, (std::vector<std::uint32_t>{0, 1, 1}));
  FrameReader bad =
      only_frame(assembler, encode(Welcome{.job = "j", .hosts = {"a"}, .host_of = {0, 1}, .address = ""}));
  EXPECT_THROW(static_cast<void>(decode_welcome(bad)), Error);
}

}  // namespace
}  // namespace baton::job
