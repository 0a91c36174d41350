#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/fail.hpp"
#include "base/liveness.hpp"
#include "base/log.hpp"
#include "base/processor_mask.hpp"
#include "comm/backends/shm/rendezvous.hpp"
#include "comm/backends/shm/rendezvous_socket.hpp"
#include "comm/missing_ranks.hpp"

namespace baton::shm {
namespace {

/// One connection to the host. It has a rank once it is admitted.
struct Guest {
  UniqueFd connection;
  std::optional<std::uint32_t> rank;
  ProcessId process{};
  bool ready = false;
};

/// The host needs a descriptor per guest; the soft limit is often far below the hard one.
void allow_descriptors(std::uint32_t guests) {
  constexpr rlim_t kSpare = 256;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= guests + kSpare) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, guests + kSpare);
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

class Host {
 public:
  Host(const RendezvousRequest& request, UniqueFd listener)
      : request_(request),
        listener_(std::move(listener)),
        token_(comm::make_token()),
        mailroom_(std::make_unique<Mailroom>(token_, request.rank)),
        processors_(allowed_processors()) {
    allow_descriptors(request.count_here());
  }

  Membership run(Deadline deadline) {
    while (ready_ + 1 < request_.count_here()) {
      if (deadline.passed()) throw_missing();
      poll_once(deadline);
    }
    Membership membership;
    membership.control = complete(deadline);
    membership.mailroom = std::move(mailroom_);
    membership.listener = std::move(listener_);
    return membership;
  }

 private:
  void poll_once(Deadline deadline) {
    std::vector<pollfd> events{{listener_.get(), POLLIN, 0}};
    for (const Guest& guest : guests_) events.push_back({guest.connection.get(), POLLIN, 0});
    events.push_back({request_.bad_news.fd, POLLIN, 0});
    if (::poll(events.data(), events.size(), deadline.poll_timeout_ms()) < 0) {
      if (errno == EINTR) return;
      fail_system("waiting for ranks");
    }
    if (events.back().revents != 0) hear_bad_news();
    for (std::size_t i = guests_.size(); i-- > 0;) {
      if (events[i + 1].revents != 0 && !serve(guests_[i])) forget(i);
    }
    if (events[0].revents != 0) admit_connection();
  }

  void admit_connection() {
    UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection) {
      if (errno == EMFILE || errno == ENFILE) fail_system(fmt::format("accepting guest {}", guests_.size() + 1));
      return;
    }
    const PeerProcess peer = peer_of(connection);
    if (peer.uid != ::getuid()) {
      send_refusal(connection, Code::join_refused,
                   fmt::format("the job \"{}\" belongs to another user", request_.name));
      return;
    }
    // A process that is gone already is found out by the end of its connection.
    guests_.push_back(
        {std::move(connection), std::nullopt, {peer.pid, process_start_time(peer.pid).value_or(0)}, false});
  }

  /// Handles what a guest said. False if it is to be forgotten.
  bool serve(Guest& guest) {
    const Received received = receive_message(guest.connection);
    switch (received.status) {
      case ReceiveStatus::nothing_yet: return true;
      case ReceiveStatus::malformed: return refuse(guest, Code::protocol, "what you sent is not a message of Baton's");
      case ReceiveStatus::closed:
        if (guest.rank) throw_guest_gone(guest);
        return false;
      case ReceiveStatus::message: break;
    }
    if (received.message.kind == wire::RendezvousKind::hello && !guest.rank) return admit(guest, received.message);
    if (received.message.kind == wire::RendezvousKind::ready && guest.rank && !guest.ready) {
      guest.ready = true;
      ++ready_;
      return true;
    }
    return refuse(guest, Code::protocol, "that message does not belong here");
  }

  bool admit(Guest& guest, const wire::RendezvousMessage& hello) {
    if (hello.version != wire::kRendezvousVersion) {
      return refuse(guest, Code::join_refused,
                    fmt::format("pid {} speaks version {} of the rendezvous, the job \"{}\" version {}",
                                guest.process.pid, hello.version, request_.name, wire::kRendezvousVersion));
    }
    if (hello.size != request_.size) {
      return refuse(guest, Code::join_refused,
                    fmt::format("rank {} says that \"{}\" has {} ranks; its host, rank {} (pid {}), says {}",
                                hello.rank, request_.name, hello.size, request_.rank, ::getpid(), request_.size));
    }
    if (hello.rank < request_.size && !request_.is_here(hello.rank)) {
      return refuse(guest, Code::join_refused,
                    fmt::format("rank {} of \"{}\" is expected on another host", hello.rank, request_.name));
    }
    if (hello.rank >= request_.size) {
      return refuse(guest, Code::out_of_range,
                    fmt::format("rank {} is outside 0..{} of \"{}\"", hello.rank, request_.size - 1, request_.name));
    }
    if (const std::uint32_t owner = owner_of(hello.rank); owner != 0) {
      return refuse(guest, Code::rank_taken,
                    fmt::format("rank {} of \"{}\" is taken by pid {}", hello.rank, request_.name, owner));
    }
    guest.rank = hello.rank;
    ProcessorMask processors;
    std::copy(std::begin(hello.processors), std::end(hello.processors), processors.words.begin());
    processors_ |= processors;
    wire::RendezvousMessage welcome = make_message(wire::RendezvousKind::welcome, request_.rank, request_.size);
    std::memcpy(welcome.token, token_.data(), token_.size());
    send_message(guest.connection, welcome);
    return true;
  }

  /// Its rank is free again.
  void forget(std::size_t guest) {
    if (guests_[guest].ready) --ready_;
    guests_.erase(guests_.begin() + static_cast<std::ptrdiff_t>(guest));
  }

  static bool refuse(Guest& guest, Code code, const std::string& text) {
    send_refusal(guest.connection, code, text);
    return false;
  }

  /// The pid that has `rank`, or 0.
  [[nodiscard]] std::uint32_t owner_of(std::uint32_t rank) const {
    if (rank == request_.rank) return static_cast<std::uint32_t>(::getpid());
    const auto found = std::find_if(guests_.begin(), guests_.end(), [&](const Guest& g) { return g.rank == rank; });
    return found == guests_.end() ? 0 : found->process.pid;
  }

  comm::ControlSegment complete(const Deadline& deadline) {
    comm::ControlSegment control = comm::make_control(request_.size, request_.count_here(), request_.name, token_,
                                                      comm::Hosting::processes, usable_processors(processors_));
    const ProcessId self = this_process();
    comm::enter_rank(control.header(), request_.rank, self.pid, self.start_time);
    for (const Guest& guest : guests_) {
      if (guest.rank) comm::enter_rank(control.header(), *guest.rank, guest.process.pid, guest.process.start_time);
    }
    const wire::RendezvousMessage go = make_message(wire::RendezvousKind::go, request_.rank, request_.size);
    // A guest that is gone by now is found dead by the rank that watches it.
    for (const Guest& guest : guests_) {
      if (!guest.rank || send_message(guest.connection, go, control.fd.get(), deadline)) continue;
      if (errno == ETOOMANYREFS)
        log::warn(
            "rank {} was not told to begin: too many descriptors of this user are on their way; see \"ulimit -n\"",
            *guest.rank);
    }
    return control;
  }

  [[noreturn]] void throw_missing() {
    std::vector<std::uint32_t> missing;
    for (std::uint32_t rank = 0; rank < request_.size; ++rank) {
      const auto has_it = [&](const Guest& g) { return g.rank == rank && g.ready; };
      if (rank != request_.rank && request_.is_here(rank) && std::none_of(guests_.begin(), guests_.end(), has_it))
        missing.push_back(rank);
    }
    try {
      comm::throw_missing_ranks(request_.name, missing, request_.size, request_.timeout);
    } catch (const Error& error) {
      tell_all(error);
      throw;
    }
  }

  [[noreturn]] void throw_guest_gone(const Guest& guest) {
    const Error error(Code::peer_died,
                      fmt::format("rank {} (pid {}) ended while the job \"{}\" came together: {}", *guest.rank,
                                  guest.process.pid, request_.name, cause_of_end(guest.process)));
    tell_all(error);
    throw Error(error);
  }

  void hear_bad_news() {
    const auto error = request_.bad_news.what();
    if (!error) return;
    tell_all(*error);
    throw Error(*error);
  }

  void tell_all(const Error& error) {
    for (const Guest& guest : guests_) send_failure(guest.connection, error.code(), error.message());
  }

  const RendezvousRequest& request_;
  UniqueFd listener_;
  comm::JobToken token_;
  std::unique_ptr<Mailroom> mailroom_;
  std::vector<Guest> guests_;
  ProcessorMask processors_;
  std::uint32_t ready_ = 0;
};

}  // namespace

Membership host_job(const RendezvousRequest& request, UniqueFd listener, Deadline deadline) {
  return Host(request, std::move(listener)).run(deadline);
}

}  // namespace baton::shm
