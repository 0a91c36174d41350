#include "job/hosts/rank_desk.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/fail.hpp"
#include "base/liveness.hpp"
#include "base/log.hpp"
#include "comm/backends/shm/unix_address.hpp"
#include "job/hosts/channel.hpp"
#include "job/launch/random_name.hpp"

namespace baton::job {
namespace {

// The end of a process is told a moment after its connections are closed.
constexpr std::chrono::milliseconds kEndComesWithin{50};

comm::RankEnd end_of(std::uint32_t rank, int status) {
  const bool signaled = WIFSIGNALED(status);
  return {.rank = rank,
          .state = wire::RankState::dead,
          .kind = signaled ? wire::EndKind::signal : wire::EndKind::exit_code,
          .value = static_cast<std::uint32_t>(signaled ? WTERMSIG(status) : WEXITSTATUS(status)),
          .reason = {}};
}

}  // namespace

RankDesk::RankDesk(EventLoop& loop, Welcome welcome, Ranks ranks, Send to_launcher)
    : loop_(loop),
      welcome_(std::move(welcome)),
      ranks_(ranks),
      to_launcher_(std::move(to_launcher)),
      address_("baton-agent-" + random_name()),
      socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
      silent_(loop, [this] { look_at_silent(); }),
      seats_(ranks.count) {
  const shm::UnixAddress where(address_);
  if (!socket_ || ::bind(socket_.get(), where.get(), where.length()) != 0 || ::listen(socket_.get(), SOMAXCONN) != 0) {
    fail_system("listening for ranks");
  }
  loop_.add(socket_.get(), EPOLLIN, [this] { accept(); });
}

RankDesk::~RankDesk() { loop_.remove(socket_.get()); }

void RankDesk::accept() {
  UniqueFd connection(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!connection) return;
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.uid != ::geteuid()) {
    log::warn("a process of user {} wanted to join the job", peer.uid);
    return;
  }
  std::erase_if(guests_, [](const Guest& guest) { return !guest.link->open(); });
  Guest& guest = guests_.emplace_back();
  guest.pid = peer.pid;
  guest.link = std::make_unique<Link>(
      loop_, std::make_unique<PlainChannel>(std::move(connection)),
      [this, &guest](FrameReader& frame) { on_frame(guest, frame); },
      [this, &guest](const std::string&) { on_closed(guest); });
}

void RankDesk::on_frame(Guest& guest, FrameReader& frame) {
  if (!guest.rank) {
    join(guest, frame);
    return;
  }
  if (frame.kind() == FrameKind::record) {
    const RecordPart part = decode_record(frame);
    if (part.rank != *guest.rank) fail(Code::protocol, "rank {} sent a record of rank {}", *guest.rank, part.rank);
    to_launcher_(encode(part));  // it comes back for those who are here
  } else if (frame.kind() == FrameKind::rank_end) {
    const comm::RankEnd end = decode_rank_end(frame);
    if (!is_here(end.rank)) fail(Code::protocol, "rank {} told the end of rank {}", *guest.rank, end.rank);
    tell(end);
  } else {
    fail(Code::protocol, "a frame of kind {} came", static_cast<std::uint32_t>(frame.kind()));
  }
}

void RankDesk::join(Guest& guest, FrameReader& frame) {
  if (frame.kind() != FrameKind::join) fail(Code::protocol, "the first frame does not tell the rank");
  const auto rank = frame.get<std::uint32_t>();
  frame.expect_end();
  if (!is_here(rank) || seat(rank).guest != nullptr) {
    const std::string why = is_here(rank)
                                ? fmt::format("rank {} has joined already, as process {}", rank, seat(rank).guest->pid)
                                : fmt::format("rank {} is not one of this host", rank);
    guest.link->send(FrameWriter(FrameKind::refused).put_text(why).finish());
    guest.link->close();
    return;
  }
  Seat& mine = seat(rank);
  mine.guest = &guest;
  guest.rank = rank;
  guest.link->send(encode(welcome_));
  for (const std::string& earlier : for_late_) guest.link->send(earlier);
  if (!std::exchange(mine.joined, true) && ++joined_ == ranks_.count) for_late_.clear();
}

void RankDesk::to_all(const std::string& frame) {
  if (joined_ < ranks_.count) for_late_.push_back(frame);
  for (Guest& guest : guests_) {
    if (guest.rank) guest.link->send(frame);
  }
}

void RankDesk::pass_on(FrameReader& frame) {
  if (frame.kind() == FrameKind::record) {
    to_all(encode(decode_record(frame)));
  } else {
    to_all(encode(decode_rank_end(frame)));
  }
}

void RankDesk::tell(const comm::RankEnd& end) {
  if (std::exchange(seat(end.rank).end_is_known, true)) return;
  const std::string frame = encode(end);
  to_launcher_(frame);
  to_all(frame);
}

void RankDesk::on_closed(Guest& guest) {
  if (!guest.rank) return;
  Seat& mine = seat(*guest.rank);
  mine.guest = nullptr;
  if (mine.end_is_known) return;
  mine.left_unsaid = true;
  silent_.set(kEndComesWithin, Timer::Mode::once);
}

void RankDesk::look_at_silent() {
  for (std::uint32_t i = 0; i < ranks_.count; ++i) {
    if (!seats_[i].left_unsaid || seats_[i].end_is_known) continue;
    tell({.rank = ranks_.first + i,
          .state = wire::RankState::dead,
          .kind = wire::EndKind::unknown,
          .value = 0,
          .reason = "it left its job without a word"});
  }
}

void RankDesk::process_ended(std::uint32_t rank, pid_t pid, int status) {
  const Guest* guest = seat(rank).guest;
  // A wrapper (a shell, a profiler) may have ended before the process that joined.
  const bool joined_as_another = guest != nullptr && guest->pid != pid;
  if (!joined_as_another) tell(end_of(rank, status));
}

}  // namespace baton::job
