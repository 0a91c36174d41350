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

comm::RankEnd end_of(std::uint32_t rank, int status, std::uint32_t membership) {
  const bool signaled = WIFSIGNALED(status);
  return {.rank = rank,
          .state = wire::RankState::dead,
          .kind = signaled ? wire::EndKind::signal : wire::EndKind::exit_code,
          .value = static_cast<std::uint32_t>(signaled ? WTERMSIG(status) : WEXITSTATUS(status)),
          .reason = {},
          .membership = membership};
}

comm::RankEnd silent_end_of(std::uint32_t rank, std::uint32_t membership) {
  return {.rank = rank,
          .state = wire::RankState::dead,
          .kind = wire::EndKind::unknown,
          .value = 0,
          .reason = "it left its job without a word",
          .membership = membership};
}

}  // namespace

RankDesk::RankDesk(EventLoop& loop, Welcome welcome, Ranks ranks, Send to_others)
    : loop_(loop),
      welcome_(std::move(welcome)),
      to_others_(std::move(to_others)),
      address_("baton-agent-" + random_name()),
      socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
      silent_(loop, [this] { look_at_silent(); }) {
  for (std::uint32_t rank = 0; rank < ranks.count; ++rank) seats_[ranks.first + rank];
  const shm::UnixAddress where(address_);
  if (!socket_ || ::bind(socket_.get(), where.get(), where.length()) != 0 || ::listen(socket_.get(), SOMAXCONN) != 0) {
    fail_system("listening for ranks");
  }
  loop_.add(socket_.get(), EPOLLIN, [this] { accept(); });
}

RankDesk::RankDesk(EventLoop& loop, UniqueFd socket, OnJoin on_join, Send to_others)
    : loop_(loop),
      on_join_(std::move(on_join)),
      to_others_(std::move(to_others)),
      socket_(std::move(socket)),
      silent_(loop, [this] { look_at_silent(); }) {
  loop_.add(socket_.get(), EPOLLIN, [this] { accept(); });
}

RankDesk::~RankDesk() {
  loop_.remove(socket_.get());
  for (const auto& [rank, seat] : seats_) {
    if (seat.watch) loop_.remove(seat.watch->fd());
  }
}

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
    RecordPart part = decode_record(frame);
    if (part.rank != *guest.rank) fail(Code::protocol, "rank {} sent a record of rank {}", *guest.rank, part.rank);
    part.membership = seats_.at(*guest.rank).membership;
    to_others_(encode(part));  // it comes back for those who are here
  } else if (frame.kind() == FrameKind::rank_end) {
    comm::RankEnd end = decode_rank_end(frame);
    if (!has(end.rank)) fail(Code::protocol, "rank {} told the end of rank {}", *guest.rank, end.rank);
    end.membership = seats_.at(*guest.rank).membership;
    tell(end);
  } else {
    fail(Code::protocol, "a frame of kind {} came", static_cast<std::uint32_t>(frame.kind()));
  }
}

void RankDesk::join(Guest& guest, FrameReader& frame) {
  if (frame.kind() != FrameKind::join) fail(Code::protocol, "the first frame does not tell the rank");
  const Join join = decode_join(frame);
  // Whom it follows has gone before, but events of two connections come in any order.
  if (const auto before = seats_.find(join.rank); before != seats_.end() && before->second.guest != nullptr) {
    before->second.guest->link->hear();
  }
  if (const auto why_not = objection(join.rank)) {
    refuse(guest, {join.rank, *why_not});
    return;
  }
  Seat& mine = seats_[join.rank];
  // What it was before has ended, even if nobody has said so yet.
  if (!mine.end_is_known()) tell(silent_end_of(join.rank, mine.membership));
  mine.guest = &guest;
  guest.rank = join.rank;
  ++mine.membership;
  mine.left_unsaid = false;
  if (!welcome_) {
    watch(join.rank, mine, guest.pid);
    on_join_(join, guest.pid);
    return;
  }
  guest.link->send(encode(*welcome_));
  for (const Late& late : for_late_) {
    if (late.membership == mine.membership || late.membership == comm::RankEnd::kForGood) guest.link->send(late.frame);
  }
  std::erase_if(for_late_, [this](const Late& late) {
    return std::ranges::all_of(seats_, [&](const auto& seat) { return seat.second.membership >= late.membership; });
  });
}

std::optional<Error> RankDesk::objection(std::uint32_t rank) const {
  const auto found = seats_.find(rank);
  if (found == seats_.end()) {
    if (!welcome_) return std::nullopt;
    return Error(Code::join_refused, fmt::format("rank {} is not one of this host", rank));
  }
  if (found->second.guest == nullptr) return std::nullopt;
  return Error(Code::rank_taken,
               fmt::format("rank {} has joined already, as process {}", rank, found->second.guest->pid));
}

void RankDesk::welcome(Welcome welcome) {
  welcome_ = std::move(welcome);
  const std::string frame = encode(*welcome_);
  for (Guest& guest : guests_) {
    if (guest.rank) guest.link->send(frame);
  }
}

void RankDesk::refuse(Guest& guest, const Failure& failure) {
  guest.link->send(encode(failure));
  guest.link->close();
  if (!guest.rank) return;
  forget(*guest.rank);
  guest.rank.reset();
}

void RankDesk::forget(std::uint32_t rank) {
  const auto found = seats_.find(rank);
  if (found->second.watch) loop_.remove(found->second.watch->fd());
  seats_.erase(found);
}

void RankDesk::watch(std::uint32_t rank, Seat& seat, pid_t pid) {
  const auto number = static_cast<std::uint32_t>(pid);
  if (seat.watch) loop_.remove(seat.watch->fd());
  seat.status.reset();
  seat.watch.emplace(ProcessId{number, process_start_time(number).value_or(0)});
  if (seat.watch->fd() < 0) return;
  loop_.add(seat.watch->fd(), EPOLLIN, [this, rank, &seat] {
    loop_.remove(seat.watch->fd());
    seat.status = exit_status_of(*seat.watch);
    // What it has said is heard first.
    if (seat.left_unsaid && seat.status) tell(end_of(rank, *seat.status, seat.membership));
  });
}

void RankDesk::refuse(const Failure& failure) {
  for (Guest& guest : guests_) {
    if (guest.rank && (!failure.rank || guest.rank == failure.rank)) refuse(guest, failure);
  }
}

void RankDesk::send(std::uint32_t rank, std::string_view frame) {
  const auto found = seats_.find(rank);
  if (found != seats_.end() && found->second.guest != nullptr) found->second.guest->link->send(frame);
}

std::map<std::uint32_t, pid_t> RankDesk::processes() const {
  std::map<std::uint32_t, pid_t> pids;
  for (const auto& [rank, seat] : seats_) {
    if (seat.guest != nullptr) pids.emplace(rank, seat.guest->pid);
  }
  return pids;
}

bool RankDesk::anyone() const noexcept {
  const auto is_open = [](const Guest& guest) { return guest.link->open(); };
  const auto is_untold = [](const auto& seat) { return seat.second.left_unsaid && !seat.second.end_is_known(); };
  return std::any_of(guests_.begin(), guests_.end(), is_open) || std::any_of(seats_.begin(), seats_.end(), is_untold);
}

void RankDesk::to_all(std::uint32_t membership, const std::string& frame) {
  const bool all_came =
      std::ranges::all_of(seats_, [&](const auto& seat) { return seat.second.membership >= membership; });
  if (!all_came) for_late_.push_back({membership, frame});
  for (Guest& guest : guests_) {
    if (!guest.rank) continue;
    const bool is_for_it = membership == comm::RankEnd::kForGood || seats_.at(*guest.rank).membership == membership;
    if (is_for_it) guest.link->send(frame);
  }
}

void RankDesk::pass_on(FrameReader& frame) {
  if (frame.kind() == FrameKind::record) {
    const RecordPart part = decode_record(frame);
    to_all(part.membership, encode(part));
    for (const auto& [rank, seat] : seats_) answer_for_gone(seat, part.membership);
  } else {
    const comm::RankEnd end = decode_rank_end(frame);
    to_all(end.membership, encode(end));
  }
}

void RankDesk::answer_for_gone(const Seat& seat, std::uint32_t membership) {
  if (!seat.gone || seat.membership >= membership) return;
  comm::RankEnd end = *seat.gone;
  end.membership = membership;
  tell(end);
}

void RankDesk::tell(const comm::RankEnd& end) {
  Seat& seat = seats_.at(end.rank);
  if (seat.ended >= end.membership) return;
  seat.ended = end.membership;
  const std::string frame = encode(end);
  to_others_(frame);
  if (welcome_) to_all(end.membership, frame);
}

void RankDesk::on_closed(Guest& guest) {
  if (!guest.rank) return;
  Seat& mine = seats_.at(*guest.rank);
  mine.guest = nullptr;
  if (mine.end_is_known()) return;
  mine.left_unsaid = true;
  if (mine.status) {
    tell(end_of(*guest.rank, *mine.status, mine.membership));
  } else {
    silent_.set(kEndComesWithin, Timer::Mode::once);
  }
}

void RankDesk::look_at_silent() {
  for (const auto& [rank, seat] : seats_) {
    if (seat.left_unsaid && !seat.end_is_known()) tell(silent_end_of(rank, seat.membership));
  }
}

void RankDesk::process_ended(std::uint32_t rank, pid_t pid, int status) {
  Seat& seat = seats_.at(rank);
  // A wrapper (a shell, a profiler) may have ended before the process that joined.
  const bool joined_as_another = seat.guest != nullptr && seat.guest->pid != pid;
  if (joined_as_another) return;
  seat.gone = end_of(rank, status, std::max(seat.membership, std::uint32_t{1}));
  tell(*seat.gone);
  // Others may have joined once more, and wait for it.
  const std::vector<Late> late = for_late_;
  for (const Late& one : late) {
    if (one.membership != comm::RankEnd::kForGood) answer_for_gone(seat, one.membership);
  }
}

}  // namespace baton::job
