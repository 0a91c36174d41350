// The host of a job, with guests that make no sense.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <future>
#include <thread>

#include "comm/backends/shm/descriptor_message.hpp"
#include "comm/backends/shm/rendezvous.hpp"
#include "comm/backends/shm/rendezvous_socket.hpp"
#include "comm/memfd.hpp"
#include "support/process_memory.hpp"
#include "support/rank_program.hpp"
#include "support/require.hpp"

namespace baton::shm {
namespace {

using namespace std::chrono_literals;
using test::require_error;
using wire::RendezvousKind;
using wire::RendezvousMessage;

/// Rank 0 of 3, in a thread of its own.
class Host {
 public:
  explicit Host(std::chrono::nanoseconds timeout = 60s)
      : name_(test::fresh_job_name()),
        request_{name_, 0, 3, timeout},
        listener_(try_listen(rendezvous_address(name_), 3)),
        result_(std::async(std::launch::async, [this, timeout] {
          return host_job(request_, std::move(listener_), Deadline::after(timeout));
        })) {}

  [[nodiscard]] UniqueFd connect() const { return try_connect(rendezvous_address(name_), Deadline::after(10s)); }
  [[nodiscard]] Membership join(std::uint32_t rank) const { return meet({name_, rank, 3, 60s}); }
  Membership result() { return result_.get(); }

  /// Two honest guests come and the job is complete.
  void expect_completion() {
    auto one = std::async(std::launch::async, [this] { return join(1); });
    auto two = std::async(std::launch::async, [this] { return join(2); });
    const Membership host = result();
    EXPECT_EQ(one.get().control.header().rank_count, 3U);
    EXPECT_EQ(two.get().control.header().rank_count, 3U);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(wire::rank_block(host.control.header(), rank).pid.load(), static_cast<std::uint32_t>(::getpid()));
    }
  }

 private:
  std::string name_;
  RendezvousRequest request_;
  UniqueFd listener_;
  std::future<Membership> result_;
};

Received await(const UniqueFd& connection) {
  pollfd event{connection.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&event, 1, 20'000), 1);
  return receive_message(connection);
}

/// What the host answers to `message`.
Received answer_to(const UniqueFd& connection, const RendezvousMessage& message) {
  send_message(connection, message);
  return await(connection);
}

void expect_refused(const Received& answer, Code code, std::string_view part) {
  ASSERT_EQ(answer.status, ReceiveStatus::message);
  EXPECT_EQ(answer.message.kind, RendezvousKind::refused);
  require_error(code, {part}, [&] { throw_told(answer.message); });
}

TEST(RendezvousHost, RefusesWhatMakesNoSenseAndGoesOn) {
  Host host;
  const RendezvousMessage good = make_message(RendezvousKind::hello, 1, 3);
  RendezvousMessage message = good;
  message.magic ^= 1;
  expect_refused(answer_to(host.connect(), message), Code::protocol, "not a message of Baton's");
  message = good;
  message.version = 99;
  expect_refused(answer_to(host.connect(), message), Code::join_refused, "speaks version 99");
  message = good;
  message.size = 4;
  expect_refused(answer_to(host.connect(), message), Code::join_refused, "has 4 ranks; its host, rank 0");
  message = good;
  message.rank = 3;
  expect_refused(answer_to(host.connect(), message), Code::out_of_range, "rank 3 is outside 0..2");
  message = good;
  message.rank = UINT32_MAX;
  expect_refused(answer_to(host.connect(), message), Code::out_of_range, "rank 4294967295");
  message = good;
  message.rank = 0;
  expect_refused(answer_to(host.connect(), message), Code::rank_taken, "rank 0 of");
  for (const RendezvousKind kind : {RendezvousKind::ready, RendezvousKind::go, RendezvousKind::failed,
                                    static_cast<RendezvousKind>(0), static_cast<RendezvousKind>(77)}) {
    message = good;
    message.kind = kind;
    expect_refused(answer_to(host.connect(), message), Code::protocol, "does not belong here");
  }
  host.expect_completion();
}

TEST(RendezvousHost, RefusesPiecesAndKeepsNoDescriptors) {
  Host host;
  const int before = test::open_descriptors();
  const RendezvousMessage good = make_message(RendezvousKind::hello, 1, 3);
  std::vector<char> longer(sizeof good + 100);
  std::memcpy(longer.data(), &good, sizeof good);
  const UniqueFd file = comm::create_memfd("baton-test", 4096);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4}, sizeof good - 1, sizeof good + 1, longer.size()}) {
    const UniqueFd connection = host.connect();
    ASSERT_EQ(send_with_descriptor(connection.get(), longer.data(), bytes, file.get(), nullptr, 0,
                                   Deadline::within(std::chrono::seconds(10))),
              static_cast<ssize_t>(bytes));
    expect_refused(await(connection), Code::protocol, "not a message of Baton's");
  }
  // Gone without a word, and there without a word.
  { const UniqueFd gone = host.connect(); }
  const UniqueFd silent = host.connect();
  host.expect_completion();
  EXPECT_LE(test::open_descriptors(), before + 8);
}

TEST(RendezvousHost, ARankIsNotReadyTwiceOrThroughNonsense) {
  Host host;
  {
    const UniqueFd connection = host.connect();
    ASSERT_EQ(answer_to(connection, make_message(RendezvousKind::hello, 1, 3)).message.kind, RendezvousKind::welcome);
    send_message(connection, make_message(RendezvousKind::ready, 1, 3));
    // Ready already: a second time makes no sense, and the rank is free again.
    expect_refused(answer_to(connection, make_message(RendezvousKind::ready, 1, 3)), Code::protocol, "does not belong");
  }
  {
    const UniqueFd connection = host.connect();
    ASSERT_EQ(answer_to(connection, make_message(RendezvousKind::hello, 2, 3)).message.kind, RendezvousKind::welcome);
    expect_refused(answer_to(connection, make_message(RendezvousKind::hello, 2, 3)), Code::protocol, "does not belong");
  }
  // Had the first still counted as ready, the job would be complete with the next guest alone.
  host.expect_completion();
}

TEST(RendezvousHost, NamesThoseWhoWereAdmittedButNeverReady) {
  Host host(500ms);
  const UniqueFd silent = host.connect();
  ASSERT_EQ(answer_to(silent, make_message(RendezvousKind::hello, 2, 3)).message.kind, RendezvousKind::welcome);
  require_error(Code::join_timeout, {"ranks 1, 2 of 3 did not arrive"}, [&] { static_cast<void>(host.result()); });
  const Received told = await(silent);
  ASSERT_EQ(told.status, ReceiveStatus::message);
  EXPECT_EQ(told.message.kind, RendezvousKind::failed);
  require_error(Code::join_timeout, {"ranks 1, 2 of 3"}, [&] { throw_told(told.message); });
}

TEST(RendezvousHost, AnAdmittedGuestThatGoesFailsTheJobForAll) {
  Host host;
  const UniqueFd other = host.connect();
  ASSERT_EQ(answer_to(other, make_message(RendezvousKind::hello, 1, 3)).message.kind, RendezvousKind::welcome);
  {
    const UniqueFd gone = host.connect();
    ASSERT_EQ(answer_to(gone, make_message(RendezvousKind::hello, 2, 3)).message.kind, RendezvousKind::welcome);
  }
  // The guest's process is this one, which lives on.
  const std::string text = "rank 2 (pid " + std::to_string(::getpid()) + ")";
  require_error(Code::peer_died, {text, "it gave up"}, [&] { static_cast<void>(host.result()); });
  const Received told = await(other);
  EXPECT_EQ(told.message.kind, RendezvousKind::failed);
  require_error(Code::peer_died, {text}, [&] { throw_told(told.message); });
}

TEST(RendezvousHost, AloneIsAJobToo) {
  const std::string name = test::fresh_job_name();
  const Membership membership = meet({name, 0, 1, 10s});
  EXPECT_TRUE(membership.listener);
  EXPECT_EQ(membership.control.header().rank_count, 1U);
}

}  // namespace
}  // namespace baton::shm
