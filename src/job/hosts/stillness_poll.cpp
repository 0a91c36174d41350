#include "job/hosts/stillness_poll.hpp"

#include <algorithm>
#include <utility>

#include "base/fail.hpp"

namespace baton::job {

std::string encode(const StillnessReport& report) {
  return FrameWriter(FrameKind::stillness)
      .put(report.round)
      .put(static_cast<std::uint8_t>(report.host.found))
      .put(report.host.waits)
      .put(report.host.sent)
      .put(report.host.done)
      .finish();
}

StillnessReport decode_stillness(FrameReader& frame) {
  StillnessReport report;
  report.round = frame.get<std::uint64_t>();
  const auto found = frame.get<std::uint8_t>();
  if (found > static_cast<std::uint8_t>(comm::Found::lively))
    fail(Code::protocol, "a host was found in state {}", found);
  report.host.found = static_cast<comm::Found>(found);
  report.host.waits = frame.get<std::uint64_t>();
  report.host.sent = frame.get<std::uint64_t>();
  report.host.done = frame.get<std::uint64_t>();
  frame.expect_end();
  return report;
}

std::string encode_stillness_question(std::uint64_t round) {
  return FrameWriter(FrameKind::stillness).put(round).finish();
}

StillnessPoll::StillnessPoll(std::size_t hosts, std::function<void(std::uint64_t)> ask, std::function<void()> found)
    : ask_(std::move(ask)), found_(std::move(found)), hosts_(hosts) {}

void StillnessPoll::on_report(std::uint32_t host, const StillnessReport& report) {
  Host& of = hosts_[host];
  if (report.round != 0 && (report.round != round_ || !of.is_awaited)) return;  // of a round that is over
  of.last = report.host;
  if (report.round == 0) {
    ask_if_all_sleep();
    return;
  }
  of.is_awaited = false;
  if (asks_ && std::ranges::none_of(hosts_, &Host::is_awaited)) end_round();
}

void StillnessPoll::forget(std::uint32_t host) {
  hosts_[host] = {.last = {.found = comm::Found::still}};
  if (asks_ && std::ranges::none_of(hosts_, &Host::is_awaited)) end_round();
}

void StillnessPoll::ask_if_all_sleep() {
  if (asks_) return;
  const auto may_go_on = [](const Host& host) { return host.last.found == comm::Found::lively; };
  if (std::ranges::any_of(hosts_, may_go_on)) {
    first_.clear();
    return;
  }
  if (!told_.empty() && std::ranges::equal(hosts_, told_, {}, &Host::last)) return;
  ask();
}

void StillnessPoll::ask() {
  ++round_;
  asks_ = true;
  for (Host& host : hosts_) host.is_awaited = true;
  ask_(round_);
}

void StillnessPoll::end_round() {
  asks_ = false;
  std::vector<comm::HostStillness> now;
  for (const Host& host : hosts_) now.push_back(host.last);
  if (comm::nobody_goes_on(first_, now)) {
    told_ = std::move(now);
    first_.clear();
    found_();
    return;
  }
  first_ = std::move(now);
}

}  // namespace baton::job
