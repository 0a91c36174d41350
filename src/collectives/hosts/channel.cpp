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
  if (sent_ - known_taken_ == ChannelLayout::kSlots) {
    const std::size_t taken = layout.lines_of(here_) + offsetof(Lines, taken);
    wait(peer_, taken, known_taken_ + 1);
    known_taken_ = load_own(window, taken);
  }
  const std::uint64_t number = ++sent_;
  const std::size_t word = arrived_at(layout, there_, number);
  if (bytes > kGoneAtOnce)
    return window.start_put_advance(peer_, layout.slot(there_, number), data, bytes, word, stamped(number, stamp));
  window.put_advance(peer_, layout.slot(there_, number), data, bytes, word, stamped(number, stamp));
  return nullptr;
}

Channel::Message Channel::receive(const RawWindow& window, const ChannelLayout& layout, WaitTold wait) const {
  const std::uint64_t number = taken_ + 1;
  const std::size_t word = arrived_at(layout, here_, number);
  wait(peer_, word, stamped(number, 0));
  return {window.local() + layout.slot(here_, number), load_own(window, word) & kStampMask};
}

void Channel::release(const RawWindow& window, const ChannelLayout& layout) {
  ++taken_;
  if (taken_ - told_ < ChannelLayout::kSlots / 2) return;
  told_ = taken_;
  window.advance(peer_, layout.lines_of(there_) + offsetof(Lines, taken), told_);
}

}  // namespace baton::collectives
