#include "job/hosts/gathering_agent.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/ranges.h>

#include "base/fail.hpp"
#include "comm/wait_record.hpp"
#include "wire/control.hpp"

namespace baton::job {
namespace {

constexpr int kSocketFd = 3;
constexpr std::chrono::seconds kOrderPatience{10};
// For the root to hear the last words.
constexpr std::chrono::seconds kFarewellPatience{5};

GatheringOrder read_order(int fd, const Deadline& deadline) {
  FrameAssembler frames;
  char bytes[4096];
  for (;;) {
    if (auto frame = frames.next()) return decode_gathering_order(*frame);
    pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, deadline.poll_timeout_ms()) == 0) break;
    const ssize_t count = ::read(fd, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    frames.add({bytes, static_cast<std::size_t>(count)});
  }
  fail(Code::invalid_argument,
       "`baton gather` is started by a rank of a job on several hosts, which tells it what to do");
}

}  // namespace

GatheringAgent::GatheringAgent(GatheringOrder order, UniqueFd socket, std::string version)
    : order_(std::move(order)),
      version_(std::move(version)),
      desk_(
          loop_, std::move(socket), [this](const Join& join, pid_t pid) { on_join(join, pid); },
          [this](std::string_view frame) {
            note_end(frame);
            to_root(frame);
          }),
      tick_(loop_, [this] { on_tick(); }),
      overdue_(loop_, [this] { on_overdue(); }) {
  tick_.set(kHeartbeat, Timer::Mode::again_and_again);
  overdue_.set(std::chrono::nanoseconds(std::max<std::int64_t>(order_.patience_ns, 1)), Timer::Mode::once);
  try {
    if (const auto missing = tls_missing())
      fail(Code::unsupported, "jobs on several hosts are not possible: {}", *missing);
    const auto given = token_from_hex(order_.token);
    if (!given) fail(Code::protocol, "the order to gather has no token");
    token_ = token_of_job(*given, order_.job);
  } catch (const Error& error) {
    failure_ = error;
    return;
  }
  if (!order_.roots.empty()) seek(order_.roots, order_.ports);
}

void GatheringAgent::run() {
  while (needed()) loop_.wait(Deadline::never());
  say_farewell();
}

bool GatheringAgent::needed() {
  if (desk_.anyone()) return true;
  if (!someone_came_) return !gave_up_;
  return root_ && !failure_ && root_->anyone_else();
}

void GatheringAgent::on_join(const Join& join, pid_t pid) {
  someone_came_ = true;
  if (!failure_ && join.rank == 0 && !root_) become_root(join.size);
  if (failure_) {
    refuse_all(*failure_);
    return;
  }
  to_root(encode(Claim{.rank = join.rank, .size = join.size, .pid = pid}));
  if (join.rank == 0) desk_.send(0, encode(root_->reachable()));
}

void GatheringAgent::become_root(std::uint32_t size) {
  try {
    if (size < 1 || size > wire::kMaxRanks)
      fail(Situation::ranks_impossible, "a job of {} ranks is not possible", size);
    root_ = std::make_unique<GatheringRoot>(
        loop_, *token_,
        GatheringRoot::Settings{.job = order_.job,
                                .version = version_,
                                .interface = order_.interface,
                                .ports = order_.ports,
                                .size = size,
                                .patience = std::chrono::nanoseconds(order_.patience_ns)});
    const Reachable here = root_->reachable();
    seek({order_.interface.empty() ? "127.0.0.1" : here.addresses.front()}, {here.port});
  } catch (const Error& error) {
    failure_ = error;
  }
}

void GatheringAgent::seek(const std::vector<std::string>& roots, std::vector<std::uint16_t> ports) {
  seeker_ = std::make_unique<RootSeeker>(loop_, *token_, roots, std::move(ports),
                                         [this](std::unique_ptr<TlsChannel> channel) { on_found(std::move(channel)); });
}

void GatheringAgent::on_found(std::unique_ptr<TlsChannel> channel) {
  seeker_.reset();
  Attend attend{.version = version_, .host = own_host_name(), .address = {}};
  attend.address = order_.interface.empty() ? own_address(channel->fd()) : addresses_to_offer(order_.interface).front();
  link_ = std::make_unique<Link>(
      loop_, std::move(channel), [this](FrameReader& frame) { on_frame(frame); },
      [this](const std::string& why) { on_closed(why); });
  link_->send(encode(attend));
  for (const std::string& frame : std::exchange(pending_, {})) link_->send(frame);
}

void GatheringAgent::to_root(std::string_view frame) {
  if (link_) {
    link_->send(frame);
  } else {
    pending_.emplace_back(frame);
  }
}

void GatheringAgent::on_frame(FrameReader& frame) {
  switch (frame.kind()) {
    case FrameKind::heartbeat: break;
    case FrameKind::failed: {
      const Failure failure = decode_failure(frame);
      if (failure.rank) {
        desk_.refuse(failure);
      } else {
        refuse_all(failure.error);
      }
      break;
    }
    case FrameKind::welcome: on_welcome(decode_welcome(frame)); break;
    case FrameKind::rank_end: {
      FrameReader copy = frame;
      const comm::RankEnd end = decode_rank_end(copy);
      if (end.rank >= has_left_.size()) fail(Code::protocol, "the end of rank {} came", end.rank);
      has_left_[end.rank] = end.state == wire::RankState::left;
      picture_->note_end(end);
      desk_.pass_on(frame);
      break;
    }
    case FrameKind::record: desk_.pass_on(frame); break;
    case FrameKind::look: on_look(); break;
    case FrameKind::seen:
      if (picture_) picture_->draw(frame);
      break;
    case FrameKind::looked:
      while (picture_ && !frame.at_end()) picture_->note_silence(frame.get<std::uint32_t>());
      if (picture_) picture_->answer();
      break;
    default: fail(Code::protocol, "a frame of kind {} came", static_cast<std::uint32_t>(frame.kind()));
  }
}

void GatheringAgent::on_welcome(Welcome welcome) {
  if (welcome_ || welcome.host_of.empty()) fail(Code::protocol, "a welcome came that cannot be read, or a second one");
  overdue_.set(std::chrono::nanoseconds(0), Timer::Mode::once);
  has_left_.resize(welcome.host_of.size());
  for (std::uint32_t rank = 0; rank < welcome.host_of.size(); ++rank) {
    if (desk_.has(rank)) host_ = welcome.host_of[rank];
  }
  std::vector<std::string> host_names;
  for (const std::uint32_t host : welcome.host_of) host_names.push_back(welcome.hosts[host]);
  picture_.emplace(loop_, welcome.job, host_names, [this] { on_asked(); });
  welcome_ = welcome;
  desk_.welcome(std::move(welcome));
}

void GatheringAgent::on_closed(const std::string& why) {
  if (!welcome_) {
    refuse_all(Error(Code::peer_died, fmt::format("the host of rank 0, {}, {} before the ranks had met",
                                                  fmt::join(order_.roots, ", "), why)));
    return;
  }
  picture_->answer();
  const std::uint32_t root = welcome_->host_of[0];
  bool root_has_left = true;
  for (std::size_t rank = 0; rank < has_left_.size(); ++rank) {
    if (welcome_->host_of[rank] == root) root_has_left = root_has_left && has_left_[rank];
  }
  // Its launcher may end what is left there once its ranks have ended. The others go on; only news is not told any
  // more.
  if (root_has_left) return;
  for (std::uint32_t rank = 0; rank < has_left_.size(); ++rank) {
    if (has_left_[rank] || desk_.has(rank)) continue;
    const std::string reason = fmt::format("host {} {}", welcome_->hosts[root], why);
    const std::string frame = encode(
        comm::RankEnd{.rank = rank,
                      .state = wire::RankState::dead,
                      .kind = wire::EndKind::unknown,
                      .value = 0,
                      .reason = welcome_->host_of[rank] == root ? reason : reason + ", over which it was heard"});
    FrameAssembler frames;
    frames.add(frame);
    auto whole = frames.next();
    note_end(frame);
    desk_.pass_on(*whole);
  }
}

void GatheringAgent::on_overdue() {
  if (!someone_came_) {
    gave_up_ = true;
  } else if (link_) {
    link_->send(FrameWriter(FrameKind::overdue).finish());
  } else {
    std::vector<std::string> notes = seeker_ ? seeker_->troubles() : std::vector<std::string>();
    refuse_all(
        Error(Code::join_timeout,
              fmt::format("the host of rank 0, {}, was not reached within {}", fmt::join(order_.roots, ", "),
                          comm::describe_duration(order_.patience_ns)),
              std::move(notes),
              "See that rank 0 was started there, that the token is the same everywhere, and that no firewall is "
              "in between; BATON_MEET=HOST:PORT names another place."));
  }
}

void GatheringAgent::on_tick() {
  if (root_) root_->on_tick();
  if (link_) link_->send(FrameWriter(FrameKind::heartbeat).finish());
}

void GatheringAgent::refuse_all(const Error& error) {
  failure_ = error;
  desk_.refuse(Failure{std::nullopt, *failure_});
}

void GatheringAgent::say_farewell() {
  if (!link_ || !link_->open() || root_) return;
  link_->send(FrameWriter(FrameKind::farewell).finish());
  const Deadline deadline = Deadline::after(kFarewellPatience);
  // It closes when it has heard all.
  while (link_->open() && !deadline.passed()) loop_.wait(deadline);
}

int run_gathering_agent(const std::string& version) {
  UniqueFd socket(kSocketFd);
  int listens = 0;
  socklen_t length = sizeof listens;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 || listens == 0) {
    static_cast<void>(socket.release());  // somebody else's
    fail(Code::invalid_argument,
         "`baton gather` is started by a rank of a job on several hosts, which tells it what to do");
  }
  // The rank that started it is not to have a child of which its program knows nothing.
  const pid_t child = ::fork();
  if (child < 0) fail_system("fork");
  if (child > 0) return 0;
  ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  static_cast<void>(::chdir("/"));
  GatheringOrder order = read_order(STDIN_FILENO, Deadline::after(kOrderPatience));
  GatheringAgent(std::move(order), std::move(socket), version).run();
  return 0;
}

}  // namespace baton::job
