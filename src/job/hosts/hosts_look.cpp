#include "job/hosts/hosts_look.hpp"

#include <utility>

namespace baton::job {
namespace {

// How long hosts have to tell what their ranks do.
constexpr std::chrono::milliseconds kPatience{400};

}  // namespace

HostsLook::HostsLook(Surroundings around) : around_(std::move(around)), hosts_(around_.hosts) {}

void HostsLook::begin() {
  if (goes_on_) {
    again_ = true;
    return;
  }
  goes_on_ = true;
  deadline_ = Deadline::after(kPatience);
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    Host& host = hosts_[i];
    host.looked = !around_.runs(i);
    host.told = std::exchange(host.asks, false);
    if (!host.looked) around_.send(i, FrameWriter(FrameKind::look).finish());
  }
  end_if_done();
}

void HostsLook::ask_from(std::uint32_t host) {
  hosts_[host].asks = true;
  begin();
}

void HostsLook::on_seen(FrameReader frame) {
  const std::string seen = FrameWriter(FrameKind::seen).put_rest(frame.get_rest()).finish();
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].told) around_.send(i, seen);
  }
}

void HostsLook::on_looked(std::uint32_t host) {
  hosts_[host].looked = true;
  end_if_done();
}

void HostsLook::look_at_clock() {
  if (goes_on_ && deadline_.passed()) end();
}

void HostsLook::end_if_done() {
  if (!goes_on_) return;
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    if (!hosts_[i].looked && around_.runs(i)) return;
  }
  end();
}

void HostsLook::end() {
  goes_on_ = false;
  Ranks silent;
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].looked || !around_.runs(i)) continue;
    const Ranks of_host = around_.ranks_of(i);
    silent.insert(silent.end(), of_host.begin(), of_host.end());
  }
  FrameWriter looked(FrameKind::looked);
  for (const std::uint32_t rank : silent) looked.put(rank);
  const std::string frame = looked.finish();
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    if (std::exchange(hosts_[i].told, false)) around_.send(i, frame);
  }
  around_.on_end(silent);
  if (std::exchange(again_, false)) begin();
}

}  // namespace baton::job
