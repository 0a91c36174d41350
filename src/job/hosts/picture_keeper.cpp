#include "job/hosts/picture_keeper.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fail.hpp"
#include "base/processors.hpp"
#include "comm/backends/shm/unix_address.hpp"
#include "comm/health.hpp"
#include "job/hosts/rank_sight.hpp"
#include "wire/names.hpp"

namespace baton::job {

PictureKeeper::PictureKeeper(EventLoop& loop, const std::string& job, const std::vector<std::string>& host_names,
                             std::function<void()> asked)
    : loop_(loop), asked_(std::move(asked)), socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
  const auto ranks = static_cast<std::uint32_t>(host_names.size());
  const comm::JobToken token = comm::make_token();
  segment_ = comm::make_control(ranks, 0, job, token, comm::Hosting::processes, usable_processors(),
                                picture_bytes(ranks) - wire::control_bytes(ranks, ranks));
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    wire::store_name(wire::rank_block(header(), rank).host, host_names[rank]);
  }
  const shm::UnixAddress where(picture_address(token));
  if (!socket_ || ::bind(socket_.get(), where.get(), where.length()) != 0 || ::listen(socket_.get(), SOMAXCONN) != 0) {
    fail_system("listening for questions about the job");
  }
  loop_.add(socket_.get(), EPOLLIN, [this] { accept(); });
}

PictureKeeper::~PictureKeeper() { loop_.remove(socket_.get()); }

void PictureKeeper::accept() {
  UniqueFd asker(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  ucred peer{};
  socklen_t length = sizeof peer;
  if (!asker || ::getsockopt(asker.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.uid != ::geteuid()) {
    return;
  }
  askers_.push_back(std::move(asker));
  asked_();
}

void PictureKeeper::answer() {
  constexpr char kDone = '+';
  // One that has gone does not care.
  for (const UniqueFd& asker : askers_) static_cast<void>(::send(asker.get(), &kDone, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
  askers_.clear();
}

comm::ProcessState& PictureKeeper::process(std::uint32_t rank) const noexcept {
  const std::size_t ranks = header().rank_count;
  auto* behind = static_cast<std::byte*>(segment_.memory->address()) + wire::control_bytes(ranks, ranks);
  return reinterpret_cast<comm::ProcessState*>(behind)[rank];
}

void PictureKeeper::draw(FrameReader& frame) {
  const RankSight sight = decode_sight(frame);
  if (sight.rank >= header().rank_count) fail(Code::protocol, "rank {} was seen", sight.rank);
  job::draw(sight, header(), scale_);
  process(sight.rank).store(sight.process, std::memory_order_relaxed);
}

void PictureKeeper::note_silence(std::uint32_t rank) {
  if (rank >= header().rank_count) fail(Code::protocol, "rank {} was not seen", rank);
  process(rank).store(comm::ProcessSeen::silent, std::memory_order_relaxed);
}

void PictureKeeper::note_end(const comm::RankEnd& end) {
  if (end.state == wire::RankState::left && end.rank < header().rank_count) {
    // It was there, even if nobody had looked yet. Relaxed: one thread draws, and readers look at each word alone.
    auto absent = static_cast<std::uint32_t>(wire::RankState::absent);
    wire::rank_block(header(), end.rank)
        .state.compare_exchange_strong(absent, static_cast<std::uint32_t>(wire::RankState::live),
                                       std::memory_order_relaxed);
  }
  comm::mark_ended(header(), end, FutexScope::process);
}

comm::ControlView PictureKeeper::view() const noexcept { return view_of(header(), segment_.memory->bytes()); }

std::optional<RankSnapshot> PictureKeeper::look(std::uint32_t rank) const {
  RankSnapshot seen = describe_rank(wire::rank_block(header(), rank), rank);
  if (seen.state == wire::RankState::absent) return std::nullopt;
  return seen;
}

std::vector<std::string> PictureKeeper::explain() const {
  for (std::uint32_t rank = 0; rank < header().rank_count; ++rank) {
    if (comm::state_of(header(), rank) != wire::RankState::absent) return comm::report_hang(view()).lines;
  }
  return {};
}

}  // namespace baton::job
