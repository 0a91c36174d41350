// Ranks meet through their agents.
#include "job/hosts/rank_desk.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

#include <baton/error.hpp>

#include "job/agent_rendezvous.hpp"

namespace baton::job {
namespace {

using namespace std::chrono_literals;
constexpr auto kTestLimit = 60s;

/// Two hosts, "a" with ranks 0 and 1, "b" with rank 2, each with an agent, on one thread that is the launcher, too.
class RankDeskTest : public testing::Test {
 protected:
  RankDeskTest() : stop_(::eventfd(0, EFD_CLOEXEC)) {
    std::promise<void> ready;
    thread_ = std::thread([this, &ready] {
      EventLoop loop;
      const Welcome welcome{.job = "job", .hosts = {"a", "b"}, .host_of = {0, 0, 1}, .address = "10.0.0.1"};
      std::array<std::unique_ptr<RankDesk>, 2> desks;
      const auto to = [&desks](std::size_t host, std::string_view bytes) {
        FrameAssembler assembler;
        assembler.add(bytes);
        auto frame = assembler.next();
        desks[host]->pass_on(*frame);
      };
      const auto send_from = [&to](std::size_t host) {
        return [&to, host](std::string_view bytes) {
          FrameAssembler assembler;
          assembler.add(bytes);
          const bool record = assembler.next()->kind() == FrameKind::record;
          if (record) to(host, bytes);
          to(1 - host, bytes);
        };
      };
      desks[0] = std::make_unique<RankDesk>(loop, welcome, RankDesk::Ranks{0, 2}, send_from(0));
      desks[1] = std::make_unique<RankDesk>(loop, welcome, RankDesk::Ranks{2, 1}, send_from(1));
      addresses_ = {desks[0]->address(), desks[1]->address()};
      bool over = false;
      loop.add(stop_.get(), EPOLLIN, [&] { over = true; });
      ready.set_value();
      while (!over) {
        loop.wait(Deadline::after(10ms));
        if (killed_.exchange(-1) == 2) desks[1]->process_ended(2, ::getpid(), SIGKILL);
      }
    });
    ready.get_future().wait();
  }
  ~RankDeskTest() override {
    ::eventfd_write(stop_.get(), 1);
    thread_.join();
  }

  std::unique_ptr<comm::Rendezvous> join(std::uint32_t rank) {
    return join_through_agent(addresses_[rank < 2 ? 0 : 1], rank, Deadline::after(kTestLimit));
  }
  static void leave(comm::Rendezvous& me) {
    me.report_end({.rank = me.rank(), .state = wire::RankState::left, .kind = {}, .value = 0, .reason = ""});
  }
  void all_come_and_leave() {
    std::vector<std::unique_ptr<comm::Rendezvous>> members;
    for (std::uint32_t rank = 0; rank < 3; ++rank) members.push_back(join(rank));
    for (const auto& member : members) leave(*member);
  }
  void expect_rank_2_is_missed() {
    const auto me = join(0);
    try {
      static_cast<void>(me->exchange({}, Deadline::after(kTestLimit)));
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), "rank 2 on host b died before the ranks had met");
    }
    leave(*me);
  }
  static std::vector<std::byte> record(std::size_t bytes, int value) {
    return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
  }

  UniqueFd stop_;
  std::array<std::string, 2> addresses_;
  std::atomic<int> killed_{-1};
  std::thread thread_;
};

TEST_F(RankDeskTest, RanksOfAllHostsExchangeRecordsOfAnyLength) {
  std::vector<std::thread> ranks;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([this, rank] {
      const auto me = join(rank);
      EXPECT_EQ(me->job(), "job");
      EXPECT_EQ(me->size(), 3U);
      EXPECT_EQ(me->host_name(me->host_of(2)), "b");
      EXPECT_EQ(me->address(), "10.0.0.1");
      for (const std::size_t bytes : {std::size_t{10}, std::size_t{0}, std::size_t{5'000'000}}) {
        const auto all = me->exchange(record(bytes * rank, static_cast<int>(rank)), Deadline::after(kTestLimit));
        for (std::uint32_t other = 0; other < 3; ++other)
          EXPECT_EQ(all[other], record(bytes * other, static_cast<int>(other)));
      }
      me->report_end({.rank = rank, .state = wire::RankState::left, .kind = {}, .value = 0, .reason = ""});
    });
  }
  for (auto& rank : ranks) rank.join();
}

TEST_F(RankDeskTest, ProgramsFollowEachOtherAsOneRank) {
  std::vector<std::thread> ranks;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([this, rank] {
      for (int program = 1; program <= 50; ++program) {
        const auto me = join(rank);
        std::atomic<int> died = 0;
        me->on_end([&](const comm::RankEnd& end) { died += end.state == wire::RankState::dead ? 1 : 0; });
        for (int i = 0; i < 2; ++i) {
          const auto all = me->exchange(record(1, program + i), Deadline::after(kTestLimit));
          EXPECT_EQ(all, std::vector<comm::RankRecord>(3, record(1, program + i)));
        }
        leave(*me);
        EXPECT_EQ(died, 0);
      }
    });
  }
  for (auto& rank : ranks) rank.join();
}

TEST_F(RankDeskTest, WhoseProcessEndedIsMissedByThoseWhoJoinAgainAfterThat) {
  all_come_and_leave();
  killed_ = 2;
  while (killed_ != -1) std::this_thread::yield();
  expect_rank_2_is_missed();
}

TEST_F(RankDeskTest, WhoseProcessEndedIsMissedByThoseWhoJoinedAgainBeforeThat) {
  all_come_and_leave();
  auto again = std::async(std::launch::async, [this] { expect_rank_2_is_missed(); });
  EXPECT_EQ(again.wait_for(20ms), std::future_status::timeout);
  killed_ = 2;
  again.get();
}

TEST_F(RankDeskTest, ALateRankGetsWhatWasSentBefore) {
  const auto first = join(0);
  const auto third = join(2);
  auto one = std::async(std::launch::async, [&] { return first->exchange(record(1, 0), Deadline::after(kTestLimit)); });
  auto three =
      std::async(std::launch::async, [&] { return third->exchange(record(1, 2), Deadline::after(kTestLimit)); });
  EXPECT_EQ(one.wait_for(20ms), std::future_status::timeout);
  const auto second = join(1);
  EXPECT_EQ(second->exchange(record(1, 1), Deadline::after(kTestLimit))[2], record(1, 2));
  EXPECT_EQ(one.get()[1], record(1, 1));
  EXPECT_EQ(three.get()[0], record(1, 0));
}

TEST_F(RankDeskTest, AMissingRankIsNamedAtTheDeadline) {
  const auto me = join(0);
  try {
    static_cast<void>(me->exchange({}, Deadline::after(50ms)));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::join_timeout);
    EXPECT_EQ(error.message(), "rank 0 waited for rank 1 on host a, rank 2 on host b");
  }
}

TEST_F(RankDeskTest, ADeathIsToldOnceToAllAndEndsAnExchange) {
  const auto first = join(0);
  const auto third = join(2);
  std::promise<comm::RankEnd> told;
  std::atomic<int> times = 0;
  first->on_end([&](const comm::RankEnd& end) {
    if (++times == 1) told.set_value(end);
  });
  auto exchange = std::async(std::launch::async, [&] { return first->exchange({}, Deadline::after(kTestLimit)); });
  killed_ = 2;
  const comm::RankEnd end = told.get_future().get();
  EXPECT_EQ(end.rank, 2U);
  EXPECT_EQ(end.kind, wire::EndKind::signal);
  EXPECT_EQ(end.value, static_cast<std::uint32_t>(SIGKILL));
  try {
    static_cast<void>(exchange.get());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::peer_died);
    EXPECT_EQ(error.message(), "rank 2 on host b died before the ranks had met");
  }
  third->report_end(
      {.rank = 2, .state = wire::RankState::left, .kind = {}, .value = 0, .reason = ""});  // known already
  const auto late = join(1);
  std::promise<std::uint32_t> told_late;
  late->on_end([&](const comm::RankEnd& known) { told_late.set_value(known.rank); });
  EXPECT_EQ(told_late.get_future().get(), 2U);
  EXPECT_EQ(times, 1);
}

TEST_F(RankDeskTest, ARankThatGoesWithoutAWordIsDead) {
  const auto first = join(0);
  std::promise<comm::RankEnd> told;
  first->on_end([&](const comm::RankEnd& end) { told.set_value(end); });
  join(1).reset();
  const comm::RankEnd end = told.get_future().get();
  EXPECT_EQ(end.rank, 1U);
  EXPECT_EQ(end.state, wire::RankState::dead);
  EXPECT_EQ(end.reason, "it left its job without a word");
}

TEST_F(RankDeskTest, ARankIsTakenOnceAndOnlyWhereItBelongs) {
  const auto first = join(0);
  EXPECT_THROW(static_cast<void>(join(0)), Error);
  EXPECT_THROW(static_cast<void>(join_through_agent(addresses_[1], 0, Deadline::after(kTestLimit))), Error);
  EXPECT_THROW(static_cast<void>(join_through_agent("baton-agent-nowhere", 0, Deadline::after(kTestLimit))), Error);
}

/// A desk for ranks that come on their own.
class OpenDeskTest : public testing::Test {
 protected:
  OpenDeskTest() {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const sockaddr_un any{.sun_family = AF_UNIX, .sun_path = {}};
    // The system chooses a name.
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any.sun_family), 0);
    EXPECT_EQ(::listen(socket.get(), SOMAXCONN), 0);
    ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address_), &length_);
    desk_.emplace(
        loop_, std::move(socket),
        [this](const Join& join, pid_t pid) {
          claims_.push_back({join.rank, join.size, pid});
        },
        [this](std::string_view frame) { said_.emplace_back(frame); });
  }

  [[nodiscard]] UniqueFd connect() const {
    UniqueFd connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address_), length_), 0);
    return connection;
  }
  static void say(const UniqueFd& connection, const std::string& frame) {
    EXPECT_EQ(::send(connection.get(), frame.data(), frame.size(), MSG_NOSIGNAL), static_cast<ssize_t>(frame.size()));
  }
  std::future<std::unique_ptr<comm::Rendezvous>> join(std::uint32_t rank) {
    return std::async(std::launch::async, [this, rank] {
      return join_through_agent(connect(), Join{.rank = rank, .size = 3}, Deadline::after(kTestLimit), {});
    });
  }

  void serve_until(const std::function<bool()>& done) {
    const Deadline deadline = Deadline::after(kTestLimit);
    while (!done() && !deadline.passed()) loop_.wait(Deadline::after(1ms));
    ASSERT_TRUE(done());
  }
  static bool is_there(const std::future<std::unique_ptr<comm::Rendezvous>>& joined) {
    return joined.wait_for(0s) == std::future_status::ready;
  }

  sockaddr_un address_{};
  socklen_t length_ = sizeof address_;
  EventLoop loop_;
  std::vector<Claim> claims_;
  std::vector<std::string> said_;
  std::optional<RankDesk> desk_;
};

TEST_F(OpenDeskTest, ARankWaitsForTheWelcome) {
  auto first = join(2);
  auto second = join(0);
  serve_until([&] { return claims_.size() == 2; });
  EXPECT_EQ(claims_[0].size, 3U);
  EXPECT_EQ(claims_[0].pid, ::getpid());
  EXPECT_FALSE(is_there(first));
  desk_->welcome({.job = "j", .hosts = {"a", "b"}, .host_of = {0, 1, 0}, .address = ""});
  serve_until([&] { return is_there(first) && is_there(second); });
  EXPECT_EQ(first.get()->rank(), 2U);
  EXPECT_EQ(second.get()->host_of(1), 1U);
  EXPECT_TRUE(desk_->has(2));
  EXPECT_FALSE(desk_->has(1));
}

TEST_F(OpenDeskTest, OneOrAllAreRefusedAndMayComeAgain) {
  auto first = join(1);
  auto second = join(0);
  serve_until([&] { return claims_.size() == 2; });
  desk_->refuse({1, Error(Code::rank_taken, "it is not yours")});
  serve_until([&] { return is_there(first); });
  EXPECT_THROW(static_cast<void>(first.get()), Error);
  EXPECT_FALSE(is_there(second));
  auto again = join(1);
  serve_until([&] { return claims_.size() == 3; });
  desk_->refuse({std::nullopt, Error(Code::join_timeout, "nobody else came")});
  serve_until([&] { return is_there(again) && is_there(second) && !desk_->anyone(); });
  for (auto* one : {&again, &second}) {
    try {
      static_cast<void>(one->get());
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::join_timeout);
      EXPECT_EQ(error.message(), "nobody else came");
    }
  }
  EXPECT_TRUE(said_.empty());
}

TEST_F(OpenDeskTest, ARankThatIsWaitingIsTaken) {
  auto first = join(1);
  serve_until([&] { return claims_.size() == 1; });
  auto second = join(1);
  serve_until([&] { return is_there(second); });
  EXPECT_THROW(static_cast<void>(second.get()), Error);
  EXPECT_EQ(claims_.size(), 1U);
  desk_->refuse({std::nullopt, Error(Code::join_timeout, "")});
  EXPECT_THROW(static_cast<void>(first.get()), Error);
}

TEST_F(OpenDeskTest, ASuccessorIsHeardAfterTheFarewellOfTheOneBefore) {
  UniqueFd first = connect();
  say(first, encode(Join{.rank = 1, .size = 2}));
  serve_until([&] { return claims_.size() == 1; });
  const UniqueFd second = connect();
  say(second, encode(Join{.rank = 1, .size = 2}));
  loop_.wait(Deadline::after(kTestLimit));  // it is accepted: of the two, it has something to read first
  say(first, encode(comm::RankEnd{.rank = 1, .state = wire::RankState::left, .kind = {}, .value = 0, .reason = ""}));
  first.reset();
  serve_until([&] { return claims_.size() == 2; });
  ASSERT_EQ(said_.size(), 1U);
  FrameAssembler frames;
  frames.add(said_[0]);
  auto frame = frames.next();
  EXPECT_EQ(decode_rank_end(*frame).state, wire::RankState::left);
}

TEST_F(OpenDeskTest, AnEndIsToldBeforeNobodyIsThere) {
  auto first = join(1);
  serve_until([&] { return claims_.size() == 1; });
  desk_->welcome({.job = "j", .hosts = {"a", "b"}, .host_of = {1, 0}, .address = ""});
  serve_until([&] { return is_there(first); });
  first.get().reset();
  serve_until([&] { return !desk_->anyone(); });
  ASSERT_EQ(said_.size(), 1U);
  FrameAssembler frames;
  frames.add(said_[0]);
  auto frame = frames.next();
  EXPECT_EQ(frame->kind(), FrameKind::rank_end);
  EXPECT_EQ(decode_rank_end(*frame).rank, 1U);
}

}  // namespace
}  // namespace baton::job
