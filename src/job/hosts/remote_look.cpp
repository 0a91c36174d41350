// What the ranks of all hosts do, when somebody asks.
#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/ranges.h>

#include "base/log.hpp"
#include "comm/hang_report.hpp"
#include "job/hosts/remote_ranks.hpp"

namespace baton::job {

HostsLook::Surroundings RemoteRanks::look_surroundings() {
  return {.hosts = static_cast<std::uint32_t>(hosts_.size()),
          .runs = [this](std::uint32_t host) { return hosts_[host].state == HostState::running; },
          .ranks_of =
              [this](std::uint32_t host) {
                const HostShare& share = hosts_[host].share;
                HostsLook::Ranks ranks(static_cast<std::size_t>(share.count));
                std::iota(ranks.begin(), ranks.end(), static_cast<std::uint32_t>(share.first_rank));
                return ranks;
              },
          .send = [this](std::uint32_t host, std::string_view frame) { send(hosts_[host], frame); },
          .on_end = [this](std::span<const std::uint32_t> silent) { end_look(silent); }};
}

void RemoteRanks::on_seen(Host& host, FrameReader& frame) {
  static_cast<void>(rank_of(host, FrameReader(frame).get<std::uint32_t>()));
  look_.on_seen(frame);
  picture_.draw(frame);
}

void RemoteRanks::end_look(std::span<const std::uint32_t> silent) {
  for (const std::uint32_t rank : silent) picture_.note_silence(rank);
  picture_.answer();
  if (std::exchange(tells_deadlock_, false)) tell_deadlock();
}

void RemoteRanks::tell_deadlock() {
  log::warn("{}\n  {}\n  {}", comm::deadlock_sentence(plan_.order.job), comm::kHangReportTitle,
            fmt::join(picture_.explain(), "\n  "));
}

void RemoteRanks::refresh(const Deadline& deadline) {
  look_.begin();
  while (look_.goes_on() && !deadline.passed()) loop_.wait(deadline);
}

std::optional<RankSnapshot> RemoteRanks::look(int rank) { return picture_.look(static_cast<std::uint32_t>(rank)); }

std::vector<std::string> RemoteRanks::explain() { return picture_.explain(); }

}  // namespace baton::job
