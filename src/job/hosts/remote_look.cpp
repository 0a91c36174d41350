// What the ranks of all hosts do, when somebody asks.
#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "base/log.hpp"
#include "comm/hang_report.hpp"
#include "job/hosts/remote_ranks.hpp"

namespace baton::job {
namespace {

// How long agents have to tell what their ranks do.
constexpr std::chrono::milliseconds kRemoteLookPatience{400};

}  // namespace

void RemoteRanks::begin_look() {
  if (looking_) {
    look_again_ = true;
    return;
  }
  looking_ = true;
  look_deadline_ = Deadline::after(kRemoteLookPatience);
  for (Host& host : hosts_) {
    host.looked = host.state != HostState::running;
    host.told = std::exchange(host.asks, false);
    if (!host.looked) send(host, FrameWriter(FrameKind::look).finish());
  }
  end_look_if_done();
}

void RemoteRanks::on_seen(Host& host, FrameReader& frame) {
  const std::string_view body = FrameReader(frame).get_rest();
  static_cast<void>(rank_of(host, FrameReader(frame).get<std::uint32_t>()));
  picture_.draw(frame);
  for (Host& asker : hosts_) {
    if (asker.told) send(asker, FrameWriter(FrameKind::seen).put_rest(body).finish());
  }
}

void RemoteRanks::end_look_if_done() {
  const bool done = std::all_of(hosts_.begin(), hosts_.end(),
                                [](const Host& host) { return host.looked || host.state != HostState::running; });
  if (looking_ && done) end_look();
}

void RemoteRanks::end_look() {
  looking_ = false;
  FrameWriter silent(FrameKind::looked);
  for (const Host& host : hosts_) {
    if (host.looked || host.state != HostState::running) continue;
    for (int i = 0; i < host.share.count; ++i) {
      const auto rank = static_cast<std::uint32_t>(host.share.first_rank + i);
      picture_.note_silence(rank);
      silent.put(rank);
    }
  }
  const std::string end = silent.finish();
  for (Host& host : hosts_) {
    if (std::exchange(host.told, false)) send(host, end);
  }
  picture_.answer();
  if (std::exchange(tells_deadlock_, false)) tell_deadlock();
  if (std::exchange(look_again_, false)) begin_look();
}

void RemoteRanks::tell_deadlock() {
  log::warn("{}\n  {}\n  {}", comm::deadlock_sentence(plan_.order.job), comm::kHangReportTitle,
            fmt::join(picture_.explain(), "\n  "));
}

void RemoteRanks::refresh(const Deadline& deadline) {
  begin_look();
  while (looking_ && !deadline.passed()) loop_.wait(deadline);
}

std::optional<RankSnapshot> RemoteRanks::look(int rank) { return picture_.look(static_cast<std::uint32_t>(rank)); }

std::vector<std::string> RemoteRanks::explain() { return picture_.explain(); }

}  // namespace baton::job
