// What UCX hears of its sockets through the gate.
#include "comm/backends/ucx/ucx_gate.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/unique_fd.hpp"
#include "comm/backends/ucx/ucx_library.hpp"

namespace baton::ucx {
namespace {

struct Connection {
  UniqueFd ours;
  UniqueFd theirs;
};

Connection connect_two() {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const address = reinterpret_cast<sockaddr*>(&place);
  socklen_t length = sizeof place;
  Connection two;
  two.ours = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::bind(listener.get(), address, length), 0);
  EXPECT_EQ(::listen(listener.get(), 1), 0);
  EXPECT_EQ(::getsockname(listener.get(), address, &length), 0);
  EXPECT_EQ(::connect(two.ours.get(), address, length), 0);
  two.theirs = UniqueFd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  return two;
}

/// As by the system when a process is killed that has not read everything.
void break_off(UniqueFd& end) {
  const linger at_once{1, 0};
  EXPECT_EQ(::setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
  end.reset();
}

// UCX 1.13 aborts if it hears of the end of a connection where it sends the rest of a payload, which it does if
// something that the other side has said is still unread.
TEST(Gate, WhereAPayloadIsSentABrokenConnectionHasNoRoom) {
  static_cast<void>(ucx_library());  // with the gate
  const SharedLibrary sockets = SharedLibrary::of_system("libucs.so.0", Code::unsupported);
  auto* const send = sockets.required<ucs_status_t(int, iovec*, std::size_t, std::size_t*)>("ucs_socket_sendv_nb");
  auto* const receive = sockets.required<ucs_status_t(int, void*, std::size_t*)>("ucs_socket_recv_nb");
  Connection connection = connect_two();
  const int ours = connection.ours.get();
  ASSERT_EQ(::send(connection.theirs.get(), "x", 1, 0), 1);
  break_off(connection.theirs);
  pollfd end{ours, POLLRDHUP, 0};
  ASSERT_EQ(::poll(&end, 1, -1), 1);

  char payload[] = "payload";
  for (int times = 0; times < 2; ++times) {
    iovec part{payload, sizeof payload};
    std::size_t sent = 0;
    EXPECT_EQ(send(ours, &part, 1, &sent), UCS_ERR_NO_PROGRESS);
  }
  char received[2] = {};
  std::size_t bytes = sizeof received;
  EXPECT_EQ(receive(ours, received, &bytes), UCS_OK);
  EXPECT_EQ(bytes, 1U);
  bytes = sizeof received;
  const ucs_status_t status = receive(ours, received, &bytes);
  EXPECT_TRUE(status == UCS_ERR_NOT_CONNECTED || status == UCS_ERR_CONNECTION_RESET) << status;
}

}  // namespace
}  // namespace baton::ucx
