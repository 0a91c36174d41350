// Ranks that go through the rendezvous by hand, so that they can end between any two of its messages.
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "comm/backends/shm/mailroom.hpp"
#include "comm/backends/shm/rendezvous_socket.hpp"
#include "ending.hpp"
#include "support/rank_program.hpp"
#include "support/require.hpp"
#include "support/scenario.hpp"

namespace {

using namespace baton;
using namespace baton::test;
using namespace std::chrono_literals;
using wire::RendezvousKind;

const Wishes kWishes = {.sizes = {4}, .join_timeout = "2s", .hostings = {Hosting::processes}};

std::string address_of(const Newcomer& me) {
  return shm::rendezvous_address(me.rendezvous.substr(me.rendezvous.find(':') + 1));
}

void await_readable(const UniqueFd& fd) {
  pollfd event{fd.get(), POLLIN, 0};
  REQUIRE_EQUAL(::poll(&event, 1, 30'000), 1);
}

shm::Received await_message(const UniqueFd& connection) {
  await_readable(connection);
  return shm::receive_message(connection);
}

void join_and_meet(const Newcomer& me) {
  Domain domain = join_and_tell(me);
  domain.barrier();
}

/// Returns when all ranks are connected to the host: one that comes later would find nobody to tell it of a death. The
/// listening socket and the host's end of each connection bear the address.
void await_gathering(const Newcomer& me) {
  const std::string address = "@" + address_of(me);
  const Deadline deadline = Deadline::after(30s);
  for (int named = 0; named < me.size; ::sched_yield()) {
    REQUIRE(!deadline.passed());
    std::ifstream sockets("/proc/net/unix");
    named = 0;
    for (std::string line; std::getline(sockets, line);) named += line.ends_with(address) ? 1 : 0;
  }
}

void guest_by_hand(const Newcomer& me) {
  const UniqueFd connection = shm::try_connect(address_of(me), Deadline::after(30s));
  REQUIRE(connection);
  await_gathering(me);
  reach("connected", me.rank);
  const auto rank = static_cast<std::uint32_t>(me.rank);
  const auto size = static_cast<std::uint32_t>(me.size);
  shm::send_message(connection, shm::make_message(RendezvousKind::hello, rank, size));
  reach("said_hello", me.rank);
  const shm::Received welcome = await_message(connection);
  REQUIRE(welcome.message.kind == RendezvousKind::welcome);
  reach("was_welcomed", me.rank);
  comm::JobToken token{};
  std::memcpy(token.data(), welcome.message.token, token.size());
  const shm::Mailroom mailroom(token, rank);
  reach("has_mail", me.rank);
  shm::send_message(connection, shm::make_message(RendezvousKind::ready, rank, size));
  reach("said_ready", me.rank);
  const shm::Received go = await_message(connection);
  REQUIRE(go.message.kind == RendezvousKind::go);
  reach("heard_go", me.rank);
}

void host_by_hand(const Newcomer& me) {
  const auto size = static_cast<std::uint32_t>(me.size);
  const UniqueFd listener = shm::try_listen(address_of(me), size);
  REQUIRE(listener);
  const comm::JobToken token = comm::make_token();
  const shm::Mailroom mailroom(token, 0);
  struct Guest {
    UniqueFd connection;
    std::uint32_t rank;
  };
  std::vector<Guest> guests;
  while (guests.size() + 1 < size) {
    await_readable(listener);
    guests.push_back({UniqueFd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)), 0});
  }
  reach("accepted", 0);
  for (Guest& guest : guests) guest.rank = await_message(guest.connection).message.rank;
  std::sort(guests.begin(), guests.end(), [](const Guest& a, const Guest& b) { return a.rank < b.rank; });
  wire::RendezvousMessage welcome = shm::make_message(RendezvousKind::welcome, 0, size);
  std::memcpy(welcome.token, token.data(), token.size());
  shm::send_message(guests[0].connection, welcome);
  reach("welcomed_one", 0);
  for (std::size_t i = 1; i < guests.size(); ++i) shm::send_message(guests[i].connection, welcome);
  reach("welcomed_all", 0);
  for (const Guest& guest : guests) static_cast<void>(await_message(guest.connection));
  reach("all_ready", 0);
  const comm::ControlSegment control = comm::make_control(size, "by hand", token, comm::Hosting::processes, 2);
  const ProcessId self = this_process();
  comm::enter_rank(control.header(), 0, self.pid, self.start_time);
  for (const Guest& guest : guests) {
    const std::uint32_t pid = shm::peer_of(guest.connection).pid;
    comm::enter_rank(control.header(), guest.rank, pid, process_start_time(pid).value_or(0));
  }
  const wire::RendezvousMessage go = shm::make_message(RendezvousKind::go, 0, size);
  shm::send_message(guests[0].connection, go, control.fd.get(), Deadline::within(std::chrono::seconds(10)));
  reach("go_to_one", 0);
  for (std::size_t i = 1; i < guests.size(); ++i)
    shm::send_message(guests[i].connection, go, control.fd.get(), Deadline::within(std::chrono::seconds(10)));
  reach("go_to_all", 0);
}

}  // namespace

SCENARIO_BEFORE_JOIN(GuestByHand, kWishes) {
  survives_with_error([&] { me.rank == 2 ? guest_by_hand(me) : join_and_meet(me); });
}

SCENARIO_BEFORE_JOIN(HostByHand, kWishes) {
  survives_with_error([&] { me.rank == 0 ? host_by_hand(me) : join_and_meet(me); });
}
