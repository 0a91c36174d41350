// A guest, with hosts that make no sense.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cstring>
#include <functional>
#include <future>

#include "comm/backends/shm/descriptor_message.hpp"
#include "comm/backends/shm/rendezvous.hpp"
#include "comm/backends/shm/rendezvous_socket.hpp"
#include "comm/memfd.hpp"
#include "support/rank_program.hpp"
#include "support/require.hpp"

namespace baton::shm {
namespace {

using namespace std::chrono_literals;
using test::require_error;
using wire::RendezvousKind;
using wire::RendezvousMessage;

void await_readable(const UniqueFd& fd) {
  pollfd event{fd.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&event, 1, 20'000), 1);
}

/// Rank 1 of 2 visits a host that does what `host` says with the connection.
Membership visit(const std::function<void(const UniqueFd&)>& host, std::chrono::nanoseconds timeout = 20s) {
  const std::string name = test::fresh_job_name();
  const std::string address = rendezvous_address(name);
  const UniqueFd listener = try_listen(address, 2);
  auto guest = std::async(std::launch::async, [&] {
    const RendezvousRequest request{name, 1, 2, timeout};
    const Deadline deadline = Deadline::after(timeout);
    return visit_host(request, try_connect(address, deadline), deadline);
  });
  {
    await_readable(listener);
    const UniqueFd connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    host(connection);
  }
  return guest.get();
}

RendezvousMessage welcome() {
  RendezvousMessage message = make_message(RendezvousKind::welcome, 0, 2);
  const comm::JobToken token = comm::make_token();
  std::memcpy(message.token, token.data(), token.size());
  return message;
}

/// Welcomes the guest, waits until it is ready, then sends `go` with `descriptor`.
std::function<void(const UniqueFd&)> sends_go(int descriptor, RendezvousKind kind = RendezvousKind::go) {
  return [descriptor, kind](const UniqueFd& connection) {
    await_readable(connection);
    EXPECT_EQ(receive_message(connection).message.kind, RendezvousKind::hello);
    send_message(connection, welcome());
    await_readable(connection);
    EXPECT_EQ(receive_message(connection).message.kind, RendezvousKind::ready);
    send_message(connection, make_message(kind, 0, 2), descriptor, Deadline::within(std::chrono::seconds(10)));
  };
}

TEST(RendezvousGuest, TriesAgainWhenTheHostGoesBeforeItAdmits) {
  EXPECT_EQ(visit([](const UniqueFd&) {}).mailroom, nullptr);
  EXPECT_EQ(visit([](const UniqueFd& connection) {
              await_readable(connection);
              static_cast<void>(receive_message(connection));
            }).mailroom,
            nullptr);
}

TEST(RendezvousGuest, RefusesWhatIsNoWelcome) {
  const auto says = [](RendezvousMessage message) {
    return [message](const UniqueFd& connection) {
      await_readable(connection);
      static_cast<void>(receive_message(connection));
      send_message(connection, message);
    };
  };
  RendezvousMessage message = welcome();
  message.magic = 0;
  require_error(Code::protocol, {"another version"}, [&] { static_cast<void>(visit(says(message))); });
  message = welcome();
  message.version = 2;
  require_error(Code::protocol, {"another version"}, [&] { static_cast<void>(visit(says(message))); });
  for (const RendezvousKind kind : {RendezvousKind::hello, RendezvousKind::go, static_cast<RendezvousKind>(9)}) {
    message = welcome();
    message.kind = kind;
    require_error(Code::protocol, {"another version"}, [&] { static_cast<void>(visit(says(message))); });
  }
}

TEST(RendezvousGuest, HearsARefusalEvenIfNobodyReadWhatItSaid) {
  // Closed with the guest's words unread: the kernel reports a reset before what the host said.
  const auto refuses_at_once = [](const UniqueFd& connection) {
    await_readable(connection);
    send_refusal(connection, Code::rank_taken, "taken by somebody");
  };
  require_error(Code::rank_taken, {"taken by somebody"}, [&] { static_cast<void>(visit(refuses_at_once)); });
}

TEST(RendezvousGuest, ShowsForeignTextHarmlessly) {
  const auto says_anything = [](const UniqueFd& connection) {
    RendezvousMessage message = make_message(RendezvousKind::refused);
    message.code = 123'456;
    std::memset(message.text, '\x1b', sizeof message.text);
    send_message(connection, message);
  };
  const Error error = require_error(Code::internal, {"\\x1b"}, [&] { static_cast<void>(visit(says_anything)); });
  EXPECT_EQ(error.message().find('\x1b'), std::string::npos);
}

TEST(RendezvousGuest, IsToldWhoTheHostWasThatWentAfterTheWelcome) {
  const auto leaves = [](const UniqueFd& connection) { send_message(connection, welcome()); };
  require_error(Code::peer_died, {"rank 0 (pid " + std::to_string(::getpid()) + "), the host of", "it gave up"},
                [&] { static_cast<void>(visit(leaves)); });
}

TEST(RendezvousGuest, GivesUpAtItsDeadline) {
  const auto says_nothing = [](const UniqueFd& connection) {
    // Until the guest hangs up.
    pollfd event{connection.get(), POLLHUP, 0};
    while (::poll(&event, 1, 20'000) == 1 && (event.revents & POLLHUP) == 0) {
    }
  };
  require_error(Code::join_timeout, {"rank 1 of 2", "waited 200 ms", "pid " + std::to_string(::getpid())},
                [&] { static_cast<void>(visit(says_nothing, 200ms)); });
}

TEST(RendezvousGuest, AcceptsAGoodControlSegment) {
  const comm::ControlSegment control = comm::make_control(2, "job", comm::make_token(), comm::Hosting::processes, 2);
  const Membership membership = visit(sends_go(control.fd.get()));
  ASSERT_NE(membership.mailroom, nullptr);
  EXPECT_EQ(membership.control.header().rank_count, 2U);
}

TEST(Trap7RendezvousGuest, RefusesABadControlSegment) {
  const auto visit_with = [](int descriptor) {
    return [descriptor] { static_cast<void>(visit(sends_go(descriptor))); };
  };
  require_error(Code::protocol, {"sent no control segment"}, visit_with(-1));
  const comm::ControlSegment wrong_size = comm::make_control(3, "job", comm::make_token(), comm::Hosting::processes, 2);
  require_error(Code::protocol, {"instead of the announced"}, visit_with(wrong_size.fd.get()));
  const UniqueFd blank = comm::create_memfd("baton-test", wire::control_bytes(2, 2));
  require_error(Code::protocol, {"no control segment"}, visit_with(blank.get()));
  const UniqueFd unsealed(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(unsealed.get(), static_cast<off_t>(wire::control_bytes(2, 2))), 0);
  require_error(Code::protocol, {"not a sealed memfd"}, visit_with(unsealed.get()));
  const UniqueFd file(::open("/dev/null", O_RDWR | O_CLOEXEC));
  require_error(Code::protocol, {"not a sealed memfd"}, visit_with(file.get()));
  const comm::ControlSegment good = comm::make_control(2, "job", comm::make_token(), comm::Hosting::processes, 2);
  require_error(Code::protocol, {"sent no control segment"},
                [&] { static_cast<void>(visit(sends_go(good.fd.get(), RendezvousKind::welcome))); });
}

}  // namespace
}  // namespace baton::shm
