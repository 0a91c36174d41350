#include "comm/delivery.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/recorder.hpp"
#include "comm/element_sums.hpp"
#include "comm/health.hpp"
#include "comm/wait_record.hpp"
#include "wire/segment.hpp"

namespace baton::comm {
namespace {

/// Null if they are not all in this part.
std::byte* address_in(const ExposedPart& part, std::uint64_t offset, std::uint64_t bytes) noexcept {
  return bytes > part.bytes || offset > part.bytes - bytes ? nullptr : part.part + offset;
}

std::atomic<std::uint32_t>& state_of_member(const ExposedPart& part, std::uint64_t member) {
  return wire::member_entry(*static_cast<wire::SegmentHeader*>(part.memory->address()),
                            static_cast<std::uint32_t>(member))
      .state;
}

}  // namespace

void Delivery::expose(wire::AllocationKey window, ExposedPart part) {
  const std::lock_guard lock(mutex_);
  drop_retired();
  parts_[window] = std::move(part);
}

void Delivery::withdraw(wire::AllocationKey window) noexcept {
  const std::lock_guard lock(mutex_);
  parts_.erase(window);
}

void Delivery::retire(wire::AllocationKey window) noexcept {
  const std::lock_guard lock(mutex_);
  if (auto node = parts_.extract(window)) {
    ExposedPart& part = node.mapped();
    // This rank's own addresses are to be without memory.
    if (const auto again = part.memory->map_again()) {
      const std::ptrdiff_t offset = part.part - static_cast<std::byte*>(part.memory->address());
      part.part = static_cast<std::byte*>(again->address()) + offset;
      part.memory = again;
    }
    retired_.insert(std::move(node));
  }
  drop_retired();
}

const ExposedPart* Delivery::part_of(wire::AllocationKey window) const noexcept {
  if (const auto found = parts_.find(window); found != parts_.end()) return &found->second;
  const auto found = retired_.find(window);
  return found != retired_.end() ? &found->second : nullptr;
}

void Delivery::drop_retired() noexcept {
  const auto is_done = [this](const ExposedPart& part, const FarMember& other) {
    const wire::RankState state = state_of(control_, other.rank);
    // Nothing is read because of it: relaxed, as the store in note_release().
    return state == wire::RankState::left || state == wire::RankState::dead ||
           state_of_member(part, other.member).load(std::memory_order_relaxed) ==
               static_cast<std::uint32_t>(wire::MemberState::released);
  };
  std::erase_if(retired_, [&](const auto& one) {
    const ExposedPart& part = one.second;
    return std::all_of(part.far.begin(), part.far.end(), [&](const FarMember& other) { return is_done(part, other); });
  });
}

void Delivery::note_release(std::uint32_t source, std::span<const std::byte> bytes) {
  wire::MemberRelease message{};
  if (bytes.size() != sizeof message) return;
  std::memcpy(&message, bytes.data(), sizeof message);
  const ExposedPart* const part = part_of(message.window);
  if (part == nullptr) return;
  const bool is_its_own = std::any_of(part->far.begin(), part->far.end(), [&](const FarMember& other) {
    return other.rank == source && other.member == message.member;
  });
  if (!is_its_own) return;
  state_of_member(*part, message.member)
      .store(static_cast<std::uint32_t>(wire::MemberState::released), std::memory_order_relaxed);
  drop_retired();
}

Delivery::Place Delivery::find(wire::AllocationKey window, std::uint64_t offset, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const ExposedPart* const part = part_of(window);
  if (part == nullptr) return {};
  std::byte* const address = address_in(*part, offset, bytes);
  if (address == nullptr) return {nullptr, nullptr, 0, true};
  return {address, part->memory, part->bytes - offset, false};
}

class Delivery::Target : public Landing {
 public:
  Target(Delivery& delivery, wire::AllocationKey window, std::uint64_t offset, std::span<std::byte> bytes)
      : delivery_(delivery), window_(window), offset_(offset), bytes_(bytes) {
    const std::lock_guard lock(delivery_.mutex_);
    delivery_.targets_.push_back(this);
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  ~Target() override {
    const std::lock_guard lock(delivery_.mutex_);
    std::erase(delivery_.targets_, this);
  }

  [[nodiscard]] bool has_come() const override {
    const std::lock_guard lock(delivery_.mutex_);
    return has_come_;
  }
  /// Under the lock: null if what comes is not for it.
  [[nodiscard]] std::byte* take(wire::AllocationKey window, std::uint64_t offset, std::size_t bytes) noexcept {
    if (has_come_ || window_ != window || offset_ != offset || bytes_.size() != bytes) return nullptr;
    has_come_ = true;
    return bytes_.data();
  }

 private:
  Delivery& delivery_;
  wire::AllocationKey window_;
  std::uint64_t offset_;
  std::span<std::byte> bytes_;
  bool has_come_ = false;  // guarded by the lock of the delivery
};

std::unique_ptr<Landing> Delivery::land(wire::AllocationKey window, std::uint64_t offset, std::span<std::byte> target) {
  return std::make_unique<Target>(*this, window, offset, target);
}

std::byte* Delivery::target_of(wire::AllocationKey window, std::uint64_t offset, std::size_t bytes,
                               std::byte* address) noexcept {
  for (Target* const target : targets_) {
    if (std::byte* const instead = target->take(window, offset, bytes); instead != nullptr) return instead;
  }
  return address;
}

Delivery::Copied Delivery::copy_in(wire::AllocationKey window, std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  const ExposedPart* const part = part_of(window);
  if (part == nullptr) return Copied::no_window;
  std::byte* const address = address_in(*part, offset, bytes.size());
  if (address == nullptr) return Copied::outside;
  std::memcpy(target_of(window, offset, bytes.size(), address), bytes.data(), bytes.size());
  return Copied::yes;
}

std::optional<Delivery::Signal> Delivery::change_word(const wire::PathHeader& message, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const ExposedPart* const part = part_of(message.signals);
  std::byte* const word = part == nullptr ? nullptr : address_in(*part, message.signal_offset, bytes);
  if (word == nullptr || message.signal_offset % bytes != 0) return std::nullopt;
  // Sequentially consistent because the doorbell is rung after it. All pair with the loads in WindowState's waits.
  auto after = static_cast<std::int32_t>(message.value);
  switch (message.change) {
    case wire::SignalChange::none: return std::nullopt;
    case wire::SignalChange::add:
      after =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(message.value) +
                                    static_cast<std::uint32_t>(std::atomic_ref(*reinterpret_cast<std::int32_t*>(word))
                                                                   .fetch_add(static_cast<std::int32_t>(message.value),
                                                                              std::memory_order_seq_cst)));
      break;
    case wire::SignalChange::set:
      std::atomic_ref(*reinterpret_cast<std::int32_t*>(word)).store(after, std::memory_order_seq_cst);
      break;
    case wire::SignalChange::advance:
      std::atomic_ref(*reinterpret_cast<std::uint64_t*>(word))
          .store(static_cast<std::uint64_t>(message.value), std::memory_order_seq_cst);
      break;
  }
  return Signal{part->tag, part->name, after};
}

bool Delivery::change_signal(const wire::PathHeader& message) {
  const bool wide = message.change == wire::SignalChange::advance;
  const std::size_t bytes = wide ? sizeof(std::uint64_t) : sizeof(std::int32_t);
  const std::optional<Signal> signal = change_word(message, bytes);
  if (!signal) return false;
  if (!wide) {
    wire::rank_block(control_, rank_).arrivals.mark(wire::arrival_spot(signal->tag, message.signal_offset));
    // For reports: its own record is on its host.
    wire::NotifyRecord& record = wire::rank_block(control_, message.source).last_notify;
    record.window.store(signal->tag, std::memory_order_relaxed);
    record.target.store(rank_, std::memory_order_relaxed);
    record.index.store(static_cast<std::uint32_t>(message.signal_offset / bytes), std::memory_order_relaxed);
    record.when.store(ticks(), std::memory_order_relaxed);
  }
  wire::doorbell_of(control_, rank_).ring(scope_);
  // After it, when the one that waits goes on already.
  if (!wide && events::wants(EventKind::arrival)) {
    const std::uint64_t now = ticks();
    events::record({.begin = now,
                    .end = now,
                    .kind = EventKind::arrival,
                    .rank = rank_,
                    .object = signal->name,
                    .a = rank_,
                    .b = message.signal_offset / bytes,
                    .c = static_cast<std::uint32_t>(signal->after),
                    .d = message.source});
  }
  return true;
}

bool Delivery::add(const wire::PathHeader& message, std::span<const std::byte> addends) {
  if (message.request > UINT8_MAX) return false;
  const Place place = find(message.window, message.offset, addends.size());
  if (place.address == nullptr) return !place.is_outside;
  return add_elements(static_cast<Element>(message.request), place.address, addends);
}

bool Delivery::scatter(const wire::PathHeader& message, std::span<const std::byte> pieces) {
  const auto change = static_cast<wire::ElementChange>(message.request);
  const std::uint64_t element = message.request >> wire::kElementShift;
  if (change > wire::kLastElementChange || element > UINT8_MAX) return false;
  // The whole part, which stays for as long as `part` does.
  const Place part = find(message.window, 0, 0);
  if (part.address == nullptr) return true;
  const auto piece_bytes = static_cast<std::size_t>(message.value);
  const std::size_t count = pieces.size() / (piece_bytes + sizeof(std::int64_t));
  const std::span<const std::byte> distances = pieces.first(count * sizeof(std::int64_t));
  pieces = pieces.subspan(distances.size());
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t distance = 0;
    std::memcpy(&distance, distances.data() + i * sizeof distance, sizeof distance);
    // Wraps round where the distance is negative; what is outside then is far outside.
    const std::uint64_t offset = message.offset + distance;
    if (piece_bytes > part.bytes || offset > part.bytes - piece_bytes) return false;
    const auto piece = pieces.subspan(i * piece_bytes, piece_bytes);
    if (!change_elements(change, static_cast<Element>(element), part.address + offset, piece)) return false;
  }
  return true;
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

std::size_t Delivery::retired_parts() {
  const std::lock_guard lock(mutex_);
  return retired_.size();
}

std::size_t Delivery::kept_posts() {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [topic, letters] : early_) count += letters.size();
  return count;
}

void Delivery::deliver(wire::AllocationKey topic, std::uint32_t source, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (topic == wire::kReleases) return note_release(source, bytes);
  if (const auto found = listeners_.find(topic); found != listeners_.end()) {
    found->second(source, bytes);
    return;
  }
  if (is_over(topic)) return;
  early_[topic].push_back({source, {bytes.begin(), bytes.end()}});
}

}  // namespace baton::comm
