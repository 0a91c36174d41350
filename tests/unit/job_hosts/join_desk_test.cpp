// Only those who know the token get in, whatever the others try.
#include "job/hosts/join_desk.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <thread>

#include <baton/error.hpp>

#include "job/hosts/link.hpp"

namespace baton::job {
namespace {

using namespace std::chrono_literals;

/// Far beyond what anything here takes, even on a busy machine.
constexpr auto kLong = 60s;

class JoinDeskTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto missing = tls_missing()) GTEST_SKIP() << *missing;
  }

  JoinDesk& desk(std::chrono::nanoseconds patience = kLong) {
    if (!desk_) {
      desk_ = std::make_unique<JoinDesk>(
          loop_, token_, JoinDesk::Settings{.interface = "lo", .expected = 2, .patience = patience},
          [this](std::unique_ptr<Channel> channel) { admitted_.push_back(std::move(channel)); });
    }
    return *desk_;
  }

  UniqueFd connect() { return connect_to(desk().addresses().front(), desk().port(), Deadline::after(kLong)); }

  /// Runs the desk until `done`, or for long.
  void serve_until(const std::function<bool()>& done) {
    const Deadline deadline = Deadline::after(kLong);
    bool is_done = done();
    for (; !is_done && !deadline.passed(); is_done = done()) loop_.wait(Deadline::after(1ms));
    ASSERT_TRUE(is_done);
  }

  /// Whether the desk has closed the connection.
  static bool is_closed(int socket) {
    std::array<char, 4096> bytes;
    const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    return count == 0 || (count < 0 && errno != EAGAIN);
  }

  /// A handshake as an agent makes it. Nothing if it was refused.
  std::unique_ptr<TlsChannel> shake_hands(UniqueFd socket, const JobToken& token) {
    auto channel = make_tls_channel(std::move(socket), token, TlsRole::agent);
    const Deadline deadline = Deadline::after(kLong);
    while (!deadline.passed()) {
      const Transfer transfer = channel->handshake();
      if (transfer.status == TransferStatus::done) return channel;
      if (transfer.status == TransferStatus::closed) return nullptr;
      loop_.wait(Deadline::after(1ms));
    }
    return nullptr;
  }

  EventLoop loop_;
  JobToken token_ = make_job_token();
  std::vector<std::unique_ptr<Channel>> admitted_;
  std::unique_ptr<JoinDesk> desk_;
};

TEST_F(JoinDeskTest, ARightTokenIsAdmittedAndBytesPass) {
  const auto agent = shake_hands(connect(), token_);
  ASSERT_TRUE(agent);
  serve_until([this] { return admitted_.size() == 1; });
  ASSERT_EQ(agent->write("hello").bytes, 5U);
  std::array<char, 16> bytes;
  Transfer got{TransferStatus::would_block};
  serve_until([&] { return (got = admitted_[0]->read(bytes)).status != TransferStatus::would_block; });
  EXPECT_EQ(std::string_view(bytes.data(), got.bytes), "hello");
}

TEST_F(JoinDeskTest, AWrongTokenIsNot) {
  JobToken other = token_;
  other[31] ^= 1;
  EXPECT_FALSE(shake_hands(connect(), other));
  EXPECT_TRUE(admitted_.empty());
}

TEST_F(JoinDeskTest, GarbageIsSentAway) {
  const std::string junk[] = {"GET / HTTP/1.1\r\n\r\n", std::string(100000, '\xff'),
                              std::string("\x16\x03\x01\xff\xff", 5),
                              std::string("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", 10), "\n"};
  for (const std::string& text : junk) {
    const UniqueFd socket = connect();
    ::send(socket.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    ::shutdown(socket.get(), SHUT_WR);
    serve_until([&] { return is_closed(socket.get()); });
  }
  EXPECT_TRUE(admitted_.empty());
}

TEST_F(JoinDeskTest, SilentConnectionsAreClosedInTime) {
  desk(50ms);
  const UniqueFd socket = connect();
  serve_until([&] {
    desk().look_at_clock();
    return is_closed(socket.get());
  });
}

TEST_F(JoinDeskTest, AnAgentGetsThroughACrowdThatSaysNothing) {
  std::vector<UniqueFd> crowd;
  for (int i = 0; i < 300; ++i) {
    crowd.push_back(connect());
    loop_.wait(Deadline::after(0ms));
  }
  EXPECT_TRUE(shake_hands(connect(), token_));
  // No more are kept than there are places for.
  serve_until([&] {
    const auto closed =
        std::count_if(crowd.begin(), crowd.end(), [](const UniqueFd& one) { return is_closed(one.get()); });
    return closed >= 300 - 2 - 64;
  });
}

TEST_F(JoinDeskTest, WhatWasRecordedCannotBeReplayed) {
  // A relay between an agent and the desk that keeps what the agent says.
  const ListeningSocket relay = listen_at("127.0.0.1", 1);
  UniqueFd agent_end = connect_to("127.0.0.1", relay.port, Deadline::after(kLong));
  UniqueFd near;
  serve_until(
      [&] { return static_cast<bool>(near = UniqueFd(::accept4(relay.fd.get(), nullptr, nullptr, SOCK_NONBLOCK))); });
  const UniqueFd far = connect();
  std::string said;
  const auto carry = [](int from, int to, std::string* copy) {
    std::array<char, 4096> bytes;
    const ssize_t count = ::recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count <= 0) return;
    if (copy != nullptr) copy->append(bytes.data(), static_cast<std::size_t>(count));
    ASSERT_EQ(::send(to, bytes.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL), count);
  };
  auto agent = make_tls_channel(std::move(agent_end), token_, TlsRole::agent);
  bool sent = false;
  serve_until([&] {
    if (!sent && agent->handshake().status == TransferStatus::done) sent = agent->write("hello").bytes == 5;
    carry(near.get(), far.get(), &said);
    carry(far.get(), near.get(), nullptr);
    return sent && admitted_.size() == 1;
  });
  const UniqueFd again = connect();
  ASSERT_EQ(::send(again.get(), said.data(), said.size(), MSG_NOSIGNAL), static_cast<ssize_t>(said.size()));
  serve_until([&] { return is_closed(again.get()); });
  EXPECT_EQ(admitted_.size(), 1U);
}

TEST_F(JoinDeskTest, AnAgentDoesNotTrustALauncherWithoutTheToken) {
  const ListeningSocket listener = listen_at("127.0.0.1", 1);
  UniqueFd agent_end = connect_to("127.0.0.1", listener.port, Deadline::after(kLong));
  UniqueFd near;
  serve_until([&] {
    return static_cast<bool>(near = UniqueFd(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_NONBLOCK)));
  });
  auto agent = make_tls_channel(std::move(agent_end), token_, TlsRole::agent);
  auto impostor = make_tls_channel(std::move(near), make_job_token(), TlsRole::launcher);
  serve_until([&] {
    static_cast<void>(impostor->handshake());
    return agent->handshake().status == TransferStatus::closed;
  });
}

TEST(ListeningSocketTest, TakesTheFirstPortThatIsFree) {
  const ListeningSocket first = listen_at("127.0.0.1", 1);
  ListeningSocket other = listen_at("127.0.0.1", 1);
  const std::uint16_t free = other.port;
  other.fd.reset();
  EXPECT_EQ(listen_at_one_of({first.port, free}, "127.0.0.1", 1).port, free);
  EXPECT_THROW(static_cast<void>(listen_at_one_of({first.port}, "127.0.0.1", 1)), Error);
}

TEST_F(JoinDeskTest, AJobsTokenIsItsOwn) {
  const JobToken first = token_of_job(token_, "job 1");
  EXPECT_EQ(first, token_of_job(token_, "job 1"));
  EXPECT_NE(first, token_of_job(token_, "job 2"));
  EXPECT_NE(first, token_);
}

TEST_F(JoinDeskTest, WhatWasRefusedCanBeTold) {
  JobToken other = token_;
  other[0] ^= 1;
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(shake_hands(connect(), other));
  ASSERT_EQ(desk().refusals().size(), 1U);
  EXPECT_NE(desk().refusals()[0].find("did not prove that it knows the token of the job"), std::string::npos);
}

}  // namespace
}  // namespace baton::job
