#include "comm/backends/shm/rendezvous.hpp"

#include <sched.h>

#include "base/fail.hpp"
#include "comm/backends/shm/rendezvous_socket.hpp"
#include "comm/wait_record.hpp"

namespace baton::shm {

Membership meet(const RendezvousRequest& request) {
  const std::string address = rendezvous_address(request.name);
  const Deadline deadline = Deadline::after(request.timeout);
  while (!deadline.passed()) {
    if (UniqueFd listener = try_listen(address, request.count_here()))
      return host_job(request, std::move(listener), deadline);
    if (const UniqueFd connection = try_connect(address, deadline)) {
      Membership membership = visit_host(request, connection, deadline);
      if (membership.mailroom) return membership;
    }
    // The host is between binding and listening, or just gone.
    ::sched_yield();
  }
  fail(Code::join_timeout, "rank {} found no host for \"{}\" within {}", request.rank, request.name,
       comm::describe_duration(request.timeout.count()));
}

}  // namespace baton::shm
