#include "comm/delivery.hpp"

#include <algorithm>
#include <atomic>

#include "comm/element_sums.hpp"
#include "comm/wait_record.hpp"

namespace baton::comm {

void Delivery::expose(wire::AllocationKey window, ExposedPart part) {
  const std::lock_guard lock(mutex_);
  parts_[window] = std::move(part);
}

void Delivery::withdraw(wire::AllocationKey window) noexcept {
  const std::lock_guard lock(mutex_);
  parts_.erase(window);
}

Delivery::Place Delivery::find(wire::AllocationKey window, std::uint64_t offset, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = parts_.find(window);
  if (found == parts_.end()) return {};
  const ExposedPart& part = found->second;
  if (bytes > part.bytes || offset > part.bytes - bytes) return {nullptr, nullptr, 0, true};
  return {part.part + offset, part.memory, part.tag, false};
}

bool Delivery::change_signal(const wire::PathHeader& message) {
  const bool wide = message.change == wire::SignalChange::advance;
  const std::size_t bytes = wide ? sizeof(std::uint64_t) : sizeof(std::int32_t);
  const Place place = find(message.signals, message.signal_offset, bytes);
  if (place.address == nullptr || message.signal_offset % bytes != 0) return false;
  // Sequentially consistent because the doorbell is rung after it. All pair with the loads in WindowState's waits.
  switch (message.change) {
    case wire::SignalChange::none: return false;
    case wire::SignalChange::add:
      std::atomic_ref(*reinterpret_cast<std::int32_t*>(place.address))
          .fetch_add(static_cast<std::int32_t>(message.value), std::memory_order_seq_cst);
      break;
    case wire::SignalChange::set:
      std::atomic_ref(*reinterpret_cast<std::int32_t*>(place.address))
          .store(static_cast<std::int32_t>(message.value), std::memory_order_seq_cst);
      break;
    case wire::SignalChange::advance:
      std::atomic_ref(*reinterpret_cast<std::uint64_t*>(place.address))
          .store(static_cast<std::uint64_t>(message.value), std::memory_order_seq_cst);
      break;
  }
  if (!wide) {
    wire::rank_block(control_, rank_).arrivals.mark(wire::arrival_spot(place.tag, message.signal_offset));
    // For reports: its own record is on its host.
    wire::NotifyRecord& record = wire::rank_block(control_, message.source).last_notify;
    record.window.store(place.tag, std::memory_order_relaxed);
    record.target.store(rank_, std::memory_order_relaxed);
    record.index.store(static_cast<std::uint32_t>(message.signal_offset / bytes), std::memory_order_relaxed);
    record.when_ns.store(monotonic_ns(), std::memory_order_relaxed);
  }
  wire::doorbell_of(control_, rank_).ring(scope_);
  return true;
}

bool Delivery::add(const wire::PathHeader& message, std::span<const std::byte> addends) {
  if (message.request > UINT8_MAX) return false;
  const Place place = find(message.window, message.offset, addends.size());
  if (place.address == nullptr) return !place.is_outside;
  return add_elements(static_cast<Element>(message.request), place.address, addends);
}

void Delivery::listen(wire::AllocationKey topic, Listener listener) {
  const std::lock_guard lock(mutex_);
  if (const auto early = early_.find(topic); early != early_.end()) {
    for (const Letter& letter : early->second) listener(letter.source, letter.bytes);
    early_.erase(early);
  }
  listeners_[topic] = std::move(listener);
}

void Delivery::stop_listening(wire::AllocationKey topic) noexcept {
  const std::lock_guard lock(mutex_);
  listeners_.erase(topic);
  std::uint64_t& last = over_.try_emplace(topic.domain, topic.sequence).first->second;
  last = std::max(last, topic.sequence);
  std::erase_if(early_, [this](const auto& letters) { return is_over(letters.first); });
}

bool Delivery::is_over(wire::AllocationKey topic) const noexcept {
  const auto last = over_.find(topic.domain);
  return last != over_.end() && topic.sequence <= last->second;
}

std::size_t Delivery::kept_posts() {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [topic, letters] : early_) count += letters.size();
  return count;
}

void Delivery::deliver(wire::AllocationKey topic, std::uint32_t source, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (const auto found = listeners_.find(topic); found != listeners_.end()) {
    found->second(source, bytes);
    return;
  }
  if (is_over(topic)) return;
  early_[topic].push_back({source, {bytes.begin(), bytes.end()}});
}

}  // namespace baton::comm
