#include "job/hosts/gathering_root.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "base/liveness.hpp"
#include "base/quote.hpp"
#include "comm/missing_ranks.hpp"

namespace baton::job {
GatheringRoot::GatheringRoot(EventLoop& loop, const JobToken& token, Settings settings)
    : loop_(loop),
      settings_(std::move(settings)),
      desk_(loop_, token, {.interface = settings_.interface, .expected = settings_.size, .ports = settings_.ports},
            [this](std::unique_ptr<Channel> channel) { admit(std::move(channel)); }),
      ranks_(settings_.size) {}

GatheringRoot::~GatheringRoot() = default;

bool GatheringRoot::anyone_else() const noexcept {
  return std::any_of(hosts_.begin(), hosts_.end(),
                     [this](const Host& host) { return host.link->open() && host.attend && !is_own(host); });
}

void GatheringRoot::admit(std::unique_ptr<Channel> channel) {
  Host& host = hosts_.emplace_back();
  host.deadline = Deadline::after(JoinDesk::kPatience);
  host.fd = channel->fd();
  host.link = std::make_unique<Link>(
      loop_, std::move(channel), [this, &host](FrameReader& frame) { on_frame(host, frame); },
      [this, &host](const std::string& why) { on_closed(host, why); });
}

void GatheringRoot::on_frame(Host& host, FrameReader& frame) {
  if (!host.attend && frame.kind() != FrameKind::attend)
    fail(Code::protocol, "the first frame is of kind {}", static_cast<std::uint32_t>(frame.kind()));
  switch (frame.kind()) {
    case FrameKind::attend: on_attend(host, frame); break;
    case FrameKind::claim: on_claim(host, decode_claim(frame)); break;
    case FrameKind::overdue:
      if (!gathered_) fail_all(missing_ranks());
      break;
    case FrameKind::record: {
      const RecordPart part = decode_record(frame);
      check_owner(host, part.rank);
      pass_on(encode(part), nullptr);
      break;
    }
    case FrameKind::look: look_of(host).ask_from(host.index); break;
    case FrameKind::seen: {
      HostsLook& look = look_of(host);
      check_owner(host, FrameReader(frame).get<std::uint32_t>());
      look.on_seen(frame);
      break;
    }
    case FrameKind::looked: look_of(host).on_looked(host.index); break;
    case FrameKind::rank_end: on_end(host, decode_rank_end(frame)); break;
    case FrameKind::farewell: host.link->close(); break;
    case FrameKind::heartbeat: break;
    default: fail(Code::protocol, "a frame of kind {} came", static_cast<std::uint32_t>(frame.kind()));
  }
}

void GatheringRoot::on_attend(Host& host, FrameReader& frame) {
  Attend attend = decode_attend(frame);
  if (attend.protocol != kGatheringProtocol || attend.version != settings_.version) {
    const std::string who = attend.host.empty() ? peer_address(host.fd) : "host " + quote(attend.host);
    fail_all(error_in(Situation::other_version, fmt::format("{} has Baton {}, the host of rank 0 has {}", who,
                                                            attend.version, settings_.version)));
    return;
  }
  if (host.attend || gathered_) fail(Code::protocol, "it comes when nobody is expected");
  host.attend = std::move(attend);
  host.deadline = Deadline::never();
  if (failure_) host.link->send(encode(Failure{std::nullopt, *failure_}));
}

void GatheringRoot::on_claim(Host& host, const Claim& claim) {
  const auto refuse = [&](Code code, std::string why) {
    host.link->send(encode(Failure{claim.rank, Error(code, std::move(why))}));
  };
  if (claim.size != settings_.size) {
    refuse(Code::join_refused, fmt::format("rank {} on host {} says that \"{}\" has {} ranks; rank 0 says {}",
                                           claim.rank, host.attend->host, settings_.job, claim.size, settings_.size));
  } else if (claim.rank >= settings_.size) {
    refuse(Code::out_of_range,
           fmt::format("rank {} is outside 0..{} of \"{}\"", claim.rank, settings_.size - 1, settings_.job));
  } else if (const Rank& rank = ranks_[claim.rank]; rank.host != nullptr) {
    refuse(Code::rank_taken, fmt::format("rank {} of \"{}\" is taken by pid {} on host {}", claim.rank, settings_.job,
                                         rank.pid, rank.host->attend->host));
  } else if (gathered_) {
    fail(Code::protocol, "rank {} comes late", claim.rank);
  } else {
    ranks_[claim.rank] = {.host = &host, .pid = claim.pid};
    host.ranks.push_back(claim.rank);
    if (++claimed_ == settings_.size && !failure_) welcome_all();
  }
}

void GatheringRoot::welcome_all() {
  gathered_ = true;
  std::vector<Host*>& hosts = gathered_hosts_;
  for (Host& host : hosts_) {
    if (!host.ranks.empty()) hosts.push_back(&host);
  }
  // In the order of their ranks, not of their arrival.
  const auto lowest = [](const Host* host) { return *std::min_element(host->ranks.begin(), host->ranks.end()); };
  std::sort(hosts.begin(), hosts.end(), [&](const Host* a, const Host* b) { return lowest(a) < lowest(b); });
  Welcome welcome{
      .job = settings_.job, .hosts = {}, .host_of = std::vector<std::uint32_t>(settings_.size), .address = {}};
  for (std::uint32_t i = 0; i < hosts.size(); ++i) {
    hosts[i]->index = i;
    welcome.hosts.push_back(hosts[i]->attend->host);
    for (const std::uint32_t rank : hosts[i]->ranks) welcome.host_of[rank] = i;
  }
  for (Host* host : hosts) {
    welcome.address = address_of(*host);
    host->link->send(encode(welcome));
  }
  prepare_looks();
}

void GatheringRoot::prepare_looks() {
  look_.emplace(HostsLook::Surroundings{
      .hosts = static_cast<std::uint32_t>(gathered_hosts_.size()),
      .runs = [this](std::uint32_t host) { return gathered_hosts_[host]->link->open(); },
      .ranks_of = [this](std::uint32_t host) { return gathered_hosts_[host]->ranks; },
      .send = [this](std::uint32_t host, std::string_view frame) { gathered_hosts_[host]->link->send(frame); },
      .on_end = [](std::span<const std::uint32_t>) {}});
}

HostsLook& GatheringRoot::look_of(const Host& host) {
  if (!look_ || host.ranks.empty()) fail(Code::protocol, "it looks at ranks that have not met");
  return *look_;
}

/// By which the other hosts reach it.
std::string GatheringRoot::address_of(const Host& host) const {
  if (!host.attend->address.empty()) return host.attend->address;
  // An agent that has not left its host knows none: it is the one that others call by what they connected to.
  for (const Host& other : hosts_) {
    if (other.link->open() && !is_own(other)) return own_address(other.fd);
  }
  return {};
}

void GatheringRoot::check_owner(const Host& host, std::uint32_t rank) const {
  if (rank >= ranks_.size() || ranks_[rank].host != &host) fail(Code::protocol, "rank {} is not there", rank);
}

void GatheringRoot::on_end(Host& host, const comm::RankEnd& end) {
  check_owner(host, end.rank);
  if (gathered_) {
    tell_end(end, &host);
    return;
  }
  std::string why = end.reason;
  if (end.kind == wire::EndKind::signal) why = describe_wait_status(static_cast<int>(end.value));
  if (end.kind == wire::EndKind::exit_code) why = describe_wait_status(static_cast<int>(end.value) << 8);
  fail_all(Error(Code::peer_died, fmt::format("rank {} on host {} ended before the ranks had met: {}", end.rank,
                                              host.attend->host, why)));
}

void GatheringRoot::on_closed(Host& host, const std::string& why) {
  if (!host.attend) {
    desk_.refuse(-1, "hello", "it " + why);
    return;
  }
  if (!gathered_) {
    if (!host.ranks.empty()) {
      fail_all(Error(Code::peer_died, fmt::format("host {} {} before the ranks had met", host.attend->host, why)));
    }
    return;
  }
  for (const std::uint32_t rank : host.ranks) {
    tell_end({.rank = rank,
              .state = wire::RankState::dead,
              .kind = wire::EndKind::unknown,
              .value = 0,
              .reason = fmt::format("host {} {}", host.attend->host, why)},
             &host);
  }
  look_->on_gone();
}

void GatheringRoot::tell_end(const comm::RankEnd& end, const Host* but) {
  std::uint32_t& ended = ranks_[end.rank].ended_membership;
  if (ended >= end.membership) return;
  ended = end.membership;
  pass_on(encode(end), but);
}

void GatheringRoot::pass_on(std::string_view frame, const Host* but) {
  for (Host& host : hosts_) {
    if (&host != but && host.attend) host.link->send(frame);
  }
}

void GatheringRoot::fail_all(const Error& error) {
  if (failure_) return;
  failure_ = error;
  pass_on(encode(Failure{std::nullopt, error}), nullptr);
}

Error GatheringRoot::missing_ranks() const {
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].host == nullptr) missing.push_back(rank);
  }
  try {
    comm::throw_missing_ranks(settings_.job, missing, settings_.size, settings_.patience);
  } catch (const Error& error) {
    std::vector<std::string> notes = error.notes();
    for (std::string& refusal : desk_.refusals()) notes.push_back(std::move(refusal));
    return Error(error.code(), error.message(), std::move(notes), error.remedy());
  }
}

void GatheringRoot::on_tick() {
  desk_.look_at_clock();
  if (look_) look_->look_at_clock();
  for (Host& host : hosts_) {
    if (!host.deadline.passed() || !host.link->open()) continue;
    desk_.refuse(host.fd, "silence", "it did not say which host it is");
    host.link->close();
  }
  pass_on(FrameWriter(FrameKind::heartbeat).finish(), nullptr);
}

}  // namespace baton::job
