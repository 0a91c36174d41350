// Agents gather, and those that know the token but make no sense are sent away.
#include "job/hosts/gathering_root.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <baton/error.hpp>

#include "job/hosts/root_seeker.hpp"

namespace baton::job {
namespace {

using namespace std::chrono_literals;
constexpr auto kGatherLimit = 60s;

/// An agent, as far as the root sees it, that says what a test wants.
struct Agent {
  std::unique_ptr<RootSeeker> seeker;
  std::unique_ptr<Link> link;
  std::vector<std::pair<FrameKind, std::string>> heard;  // without heartbeats
  std::string closed;

  [[nodiscard]] bool has_heard(FrameKind kind) const {
    return std::any_of(heard.begin(), heard.end(), [&](const auto& one) { return one.first == kind; });
  }
  [[nodiscard]] FrameReader last() const { return {heard.back().first, heard.back().second}; }
};

class GatheringRootTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto missing = tls_missing()) GTEST_SKIP() << *missing;
    root_ = std::make_unique<GatheringRoot>(
        loop_, token_,
        GatheringRoot::Settings{
            .job = "job", .version = "1.0", .interface = "lo", .ports = {}, .size = 3, .patience = 30s});
  }

  void serve_until(const std::function<bool()>& done) {
    const Deadline deadline = Deadline::after(kGatherLimit);
    while (!done() && !deadline.passed()) loop_.wait(Deadline::after(1ms));
    ASSERT_TRUE(done());
  }

  std::unique_ptr<Agent> connect() {
    auto agent = std::make_unique<Agent>();
    Agent* one = agent.get();
    const Reachable where = root_->reachable();
    one->seeker = std::make_unique<RootSeeker>(loop_, token_, where.addresses, std::vector<std::uint16_t>{where.port},
                                               [this, one](std::unique_ptr<TlsChannel> channel) {
                                                 one->link = std::make_unique<Link>(
                                                     loop_, std::move(channel),
                                                     [one](FrameReader& frame) {
                                                       if (frame.kind() != FrameKind::heartbeat)
                                                         one->heard.emplace_back(frame.kind(), frame.get_rest());
                                                     },
                                                     [one](const std::string& why) { one->closed = why; });
                                               });
    serve_until([&] { return one->link != nullptr; });
    return agent;
  }

  std::unique_ptr<Agent> attend(const std::string& host, const std::vector<std::uint32_t>& ranks) {
    auto agent = connect();
    if (!agent->link) return agent;
    agent->link->send(encode(Attend{.version = "1.0", .host = host, .address = "10.0.0." + host}));
    for (const std::uint32_t rank : ranks) agent->link->send(encode(Claim{.rank = rank, .size = 3, .pid = 7}));
    return agent;
  }

  void expect_sent_away(Agent& agent) {
    serve_until([&] { return !agent.closed.empty(); });
    EXPECT_EQ(agent.closed, "closed the connection");
  }

  static std::string end_of(std::uint32_t rank, wire::RankState state) {
    return encode(
        comm::RankEnd{.rank = rank, .state = state, .kind = wire::EndKind::unknown, .value = 0, .reason = ""});
  }

  EventLoop loop_;
  JobToken token_ = make_job_token();
  std::unique_ptr<GatheringRoot> root_;
};

TEST_F(GatheringRootTest, WelcomesAllWhenTheLastRankIsClaimed) {
  const auto second = attend("2", {1});
  const auto first = attend("1", {2});
  serve_until([&] { return root_->anyone_else(); });
  EXPECT_TRUE(first->heard.empty());
  first->link->send(encode(Claim{.rank = 0, .size = 3, .pid = 7}));
  for (const auto& [agent, address] : {std::pair{first.get(), "10.0.0.1"}, std::pair{second.get(), "10.0.0.2"}}) {
    serve_until([&, one = agent] { return one->has_heard(FrameKind::welcome); });
    FrameReader frame = agent->last();
    const Welcome welcome = decode_welcome(frame);
    EXPECT_EQ(welcome.hosts, (std::vector<std::string>{"1", "2"}));
    EXPECT_EQ(welcome.host_of, (std::vector<std::uint32_t>{0, 1, 0}));
    EXPECT_EQ(welcome.address, address);
  }
}

TEST_F(GatheringRootTest, ConnectionsThatDoNotIntroduceThemselvesAreClosed) {
  const auto agent = connect();
  agent->link->send(encode(Claim{.rank = 0, .size = 3, .pid = 7}));
  expect_sent_away(*agent);
}

TEST_F(GatheringRootTest, WhatIsNoFrameIsSentAway) {
  const auto agent = connect();
  agent->link->send(std::string(100, '\xff'));
  expect_sent_away(*agent);
}

TEST_F(GatheringRootTest, AnIntroductionIsTakenOnce) {
  const auto agent = attend("1", {});
  agent->link->send(encode(Attend{.version = "1.0", .host = "2", .address = ""}));
  expect_sent_away(*agent);
}

TEST_F(GatheringRootTest, NobodySpeaksForRanksOfOthers) {
  const auto first = attend("1", {0, 2});
  const auto second = attend("2", {1});
  serve_until([&] { return second->has_heard(FrameKind::welcome); });
  second->link->send(end_of(0, wire::RankState::left));
  expect_sent_away(*second);
  // It counts as lost.
  serve_until([&] { return first->has_heard(FrameKind::rank_end); });
  FrameReader frame = first->last();
  const comm::RankEnd end = decode_rank_end(frame);
  EXPECT_EQ(end.rank, 1U);
  EXPECT_EQ(end.state, wire::RankState::dead);
  EXPECT_NE(end.reason.find("host 2 sent what makes no sense"), std::string::npos) << end.reason;
}

TEST_F(GatheringRootTest, ARankIsRefusedAndTheOthersAreNot) {
  const auto first = attend("1", {0, 1});
  const auto second = attend("2", {1});
  serve_until([&] { return second->has_heard(FrameKind::failed); });
  FrameReader frame = second->last();
  const Failure failure = decode_failure(frame);
  EXPECT_EQ(failure.rank, 1U);
  EXPECT_EQ(failure.error.code(), Code::rank_taken);
  EXPECT_EQ(failure.error.message(), "rank 1 of \"job\" is taken by pid 7 on host 1");
  second->link->send(encode(Claim{.rank = 3, .size = 3, .pid = 7}));
  second->link->send(encode(Claim{.rank = 2, .size = 3, .pid = 7}));
  serve_until([&] { return second->has_heard(FrameKind::welcome) && first->has_heard(FrameKind::welcome); });
}

TEST_F(GatheringRootTest, AnotherVersionFailsAll) {
  const auto first = attend("1", {0});
  serve_until([&] { return !root_->anyone_else(); });
  const auto second = connect();
  second->link->send(encode(Attend{.version = "0.9", .host = "2", .address = ""}));
  serve_until([&] { return first->has_heard(FrameKind::failed); });
  FrameReader frame = first->last();
  EXPECT_EQ(decode_failure(frame).error.message(), "host \"2\" has Baton 0.9, the host of rank 0 has 1.0");
}

TEST_F(GatheringRootTest, MissingRanksAreToldToAllAndToLateOnes) {
  const auto first = attend("1", {0});
  first->link->send(FrameWriter(FrameKind::overdue).finish());
  serve_until([&] { return first->has_heard(FrameKind::failed); });
  const auto late = attend("2", {});
  serve_until([&] { return late->has_heard(FrameKind::failed); });
  for (Agent* agent : {first.get(), late.get()}) {
    FrameReader frame = agent->last();
    const Failure failure = decode_failure(frame);
    EXPECT_FALSE(failure.rank);
    EXPECT_EQ(failure.error.code(), Code::join_timeout);
    EXPECT_EQ(failure.error.message(), "ranks 1, 2 of 3 did not arrive at \"job\" within 30 s");
  }
}

TEST_F(GatheringRootTest, AFarewellIsNoLoss) {
  const auto first = attend("1", {0, 2});
  const auto second = attend("2", {1});
  serve_until([&] { return first->has_heard(FrameKind::welcome); });
  second->link->send(end_of(1, wire::RankState::left));
  second->link->send(FrameWriter(FrameKind::farewell).finish());
  expect_sent_away(*second);
  serve_until([&] { return first->has_heard(FrameKind::rank_end); });
  FrameReader frame = first->last();
  EXPECT_EQ(decode_rank_end(frame).state, wire::RankState::left);
  EXPECT_FALSE(root_->anyone_else());
}

}  // namespace
}  // namespace baton::job
