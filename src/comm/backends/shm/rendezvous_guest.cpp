#include <poll.h>

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"
#include "base/liveness.hpp"
#include "base/processor_mask.hpp"
#include "comm/backends/shm/rendezvous.hpp"
#include "comm/backends/shm/rendezvous_socket.hpp"
#include "comm/wait_record.hpp"

namespace baton::shm {
namespace {

/// The host was there first, so its deadline comes first, too; and it knows who is missing. A guest whose own deadline
/// passes gives the host this much longer to say so.
constexpr std::chrono::milliseconds kGrace{500};

/// One message from the host, or the end of the connection.
Received await_host(const UniqueFd& connection, const RendezvousRequest& request, Deadline deadline) {
  while (true) {
    Received received = receive_message(connection);
    if (received.status != ReceiveStatus::nothing_yet) return received;
    if (deadline.passed()) {
      fail(Code::join_timeout, "rank {} of {} waited {} for the other ranks of \"{}\", which gather at pid {}",
           request.rank, request.size, comm::describe_duration(request.timeout.count()), request.name,
           peer_of(connection).pid);
    }
    pollfd event{connection.get(), POLLIN, 0};
    static_cast<void>(::poll(&event, 1, deadline.poll_timeout_ms()));
  }
}

[[noreturn]] void throw_host_gone(ProcessId process, const RendezvousRequest& request, std::uint32_t host) {
  fail(Code::peer_died, "rank {} (pid {}), the host of \"{}\", ended while the job came together: {}", host,
       process.pid, request.name, cause_of_end(process));
}

}  // namespace

Membership visit_host(const RendezvousRequest& request, const UniqueFd& connection, Deadline deadline) {
  using wire::RendezvousKind;
  Membership membership;
  const std::uint32_t host_pid = peer_of(connection).pid;
  const Deadline patience = Deadline::after(deadline.left() + kGrace);
  const ProcessId host{host_pid, process_start_time(host_pid).value_or(0)};
  wire::RendezvousMessage hello = make_message(RendezvousKind::hello, request.rank, request.size);
  const ProcessorMask processors = allowed_processors();
  std::copy(processors.words.begin(), processors.words.end(), hello.processors);
  send_message(connection, hello);
  const Received welcome = await_host(connection, request, patience);
  if (welcome.status == ReceiveStatus::closed) return membership;
  if (welcome.status == ReceiveStatus::message &&
      (welcome.message.kind == RendezvousKind::refused || welcome.message.kind == RendezvousKind::failed)) {
    throw_told(welcome.message);
  }
  if (welcome.status == ReceiveStatus::malformed || welcome.message.version != wire::kRendezvousVersion ||
      welcome.message.kind != RendezvousKind::welcome) {
    fail(Code::protocol, "pid {}, the host of \"{}\", speaks another version of Baton", peer_of(connection).pid,
         request.name);
  }
  comm::JobToken token{};
  std::memcpy(token.data(), welcome.message.token, token.size());
  auto mailroom = std::make_unique<Mailroom>(token, request.rank);
  send_message(connection, make_message(RendezvousKind::ready, request.rank, request.size));

  Received go = await_host(connection, request, patience);
  if (go.status == ReceiveStatus::closed) throw_host_gone(host, request, welcome.message.rank);
  if (go.status == ReceiveStatus::message && go.message.kind == RendezvousKind::failed) throw_told(go.message);
  if (go.status != ReceiveStatus::message || go.message.kind != RendezvousKind::go || !go.descriptor) {
    fail(Code::protocol, "pid {}, the host of \"{}\", sent no control segment", peer_of(connection).pid, request.name);
  }
  membership.control = comm::adopt_control(std::move(go.descriptor), request.size);
  membership.mailroom = std::move(mailroom);
  return membership;
}

}  // namespace baton::shm
