#include "collectives/hosts/channel.hpp"

#include <atomic>

namespace baton::collectives {
namespace {

using Lines = ChannelLayout::Lines;

std::uint64_t load_own(const RawWindow& window, std::size_t offset) {
  // Pairs with the store of who advanced it, in Delivery.
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(window.local() + offset)).load(std::memory_order_acquire);
}

std::size_t arrived_at(const ChannelLayout& layout, std::size_t channel, std::uint64_t number) noexcept {
  return layout.lines_of(channel) + offsetof(Lines, arrived) + number % ChannelLayout::kSlots * sizeof(std::uint64_t);
}

}  // namespace

std::unique_ptr<Transfer> Channel::send(const RawWindow& window, const ChannelLayout& layout, const std::byte* data,
                                        std::size_t bytes, std::uint64_t stamp, WaitTold wait) {
  // Those that go in one piece are gone at once, nearly always.
  constexpr std::size_t kGoneAtOnce = std::size_t{8} * 1024;
  if (!counts_.has_room()) {
    const std::size_t taken = layout.lines_of(here_) + offsetof(Lines, taken);
    wait(peer_, taken, counts_.first_missing());
    counts_.note_taken(load_own(window, taken));
  }
  const SlotCounts::Outgoing message = counts_.send();
  const std::size_t slot = layout.slot(there_, message.number);
  const std::size_t word = arrived_at(layout, there_, message.number);
  const std::uint64_t told = stamped(message, stamp);
  if (bytes > kGoneAtOnce) return window.start_put_advance(peer_, slot, data, bytes, word, told);
  window.put_advance(peer_, slot, data, bytes, word, told);
  return nullptr;
}

std::unique_ptr<Landing> Channel::land(const RawWindow& window, const ChannelLayout& layout, std::byte* to,
                                       std::size_t bytes) const {
  // To copy less takes less than to say where it goes.
  constexpr std::size_t kWorthIt = std::size_t{8} * 1024;
  return bytes < kWorthIt ? nullptr : window.land(layout.slot(here_, counts_.next()), to, bytes);
}

Channel::Message Channel::receive(const RawWindow& window, const ChannelLayout& layout, WaitTold wait) {
  const std::uint64_t number = counts_.next();
  const std::size_t word = arrived_at(layout, here_, number);
  wait(peer_, word, stamped({number, 0}, 0));
  const std::uint64_t told = load_own(window, word);
  counts_.note_told(told >> kStampBits);
  return {window.local() + layout.slot(here_, number), told & kStampMask};
}

void Channel::release(const RawWindow& window, const ChannelLayout& layout) {
  if (counts_.take()) window.advance(peer_, layout.lines_of(there_) + offsetof(Lines, taken), counts_.taken());
}

}  // namespace baton::collectives
