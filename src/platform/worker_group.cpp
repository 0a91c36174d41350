#include "platform/worker_group.hpp"

#include <baton/join.hpp>
#include <baton/options.hpp>

#include "base/fail.hpp"
#include "chip/completion/domain_group.hpp"

namespace baton::platform {

WorkerGroup::WorkerGroup(const std::shared_ptr<chip::OpenDevice>& device, int rank, int size,
                         const std::string& rendezvous)
    : domain_(join(rendezvous, rank, size)),
      device_(device, {.wait = options().wait_timeout, .task = options().kernel_limit()}, *known_) {}

std::uint64_t WorkerGroup::alloc_windows(std::size_t bytes) {
  if (window_) fail(Code::invalid_argument, "comm_alloc_windows: this group has its windows already");
  window_ = std::make_unique<chip::DeviceChipWindow>(device_, known_, closing_, chip::group_of(domain_, "windows"),
                                                     "windows", bytes);
  return reinterpret_cast<std::uint64_t>(window_->context());
}

const chip::DeviceChipWindow& WorkerGroup::window() const {
  if (!window_) fail(Code::invalid_argument, "comm_alloc_windows() was not called yet");
  return *window_;
}

std::uint64_t WorkerGroup::window_base() const { return reinterpret_cast<std::uint64_t>(window().local()); }
std::size_t WorkerGroup::window_bytes() const { return window().bytes(); }

}  // namespace baton::platform
