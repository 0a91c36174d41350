#include "chip/cores/local_memory.hpp"

#include <atomic>
#include <mutex>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "base/processors.hpp"

namespace baton::chip {
namespace {

std::atomic_ref<std::int32_t> word(const std::int32_t* signal) {
  return std::atomic_ref(*const_cast<std::int32_t*>(signal));
}

}  // namespace

LocalMemory::LocalMemory() : LocalMemory(static_cast<std::uint32_t>(options().rank.value_or(0))) {}

void LocalMemory::check_aligned(const char* what, const std::int32_t* signal) {
  if (reinterpret_cast<std::uintptr_t>(signal) % sizeof(std::int32_t) == 0) return;
  fail(Code::misaligned, "{}: a signal cannot be at {}, which is not a multiple of 4", what,
       static_cast<const void*>(signal));
}

void LocalMemory::add_buffer(const void* begin, std::size_t bytes, std::string name, std::uint64_t shared) {
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  const std::unique_lock lock(mutex_);
  auto next = buffers_.lower_bound(at);
  const auto refuse = [&](const Buffer& other) {
    fail(Code::invalid_argument, "{} bytes for \"{}\" overlap \"{}\", which has {} bytes", bytes, name, other.name,
         other.bytes);
  };
  if (next != buffers_.end() && next->first - at < bytes) refuse(next->second);
  if (next != buffers_.begin() && at - std::prev(next)->first < std::prev(next)->second.bytes) {
    refuse(std::prev(next)->second);
  }
  buffers_.emplace_hint(next, at, Buffer{bytes, std::move(name), ++buffers_added_, shared});
  version_.fetch_add(1, std::memory_order_relaxed);
}

void LocalMemory::remove_buffer(const void* begin) {
  const std::unique_lock lock(mutex_);
  buffers_.erase(reinterpret_cast<std::uintptr_t>(begin));
  version_.fetch_add(1, std::memory_order_relaxed);
}

void LocalMemory::for_each_buffer(FunctionRef<void(std::uintptr_t, std::size_t)> buffer) const {
  const std::shared_lock lock(mutex_);
  for (const auto& [begin, known] : buffers_) buffer(begin, known.bytes);
}

std::optional<Extent> LocalMemory::extent_of(const void* begin, std::size_t bytes) const {
  const std::shared_lock lock(mutex_);
  auto next = buffers_.upper_bound(reinterpret_cast<std::uintptr_t>(begin));
  if (next == buffers_.begin()) return std::nullopt;
  const auto& [start, buffer] = *std::prev(next);
  const Extent extent{start, buffer.bytes};
  return extent.holds(begin, bytes) ? std::optional(extent) : std::nullopt;
}

std::string LocalMemory::describe_near_buffer(const void* address) const {
  constexpr std::uintptr_t kNear = 4096;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::shared_lock lock(mutex_);
  const auto next = buffers_.upper_bound(at);
  const bool is_before_next = next != buffers_.end() && next->first - at <= kNear;
  if (next != buffers_.begin()) {
    const auto& [start, buffer] = *std::prev(next);
    const std::uintptr_t past = at - start < buffer.bytes ? 0 : at - start - buffer.bytes;
    const bool is_closer = past == 0 || !is_before_next || past < next->first - at;
    if (is_closer && past < buffer.bytes + kNear) {
      return fmt::format("byte {} of \"{}\", which has {} bytes", at - start, buffer.name, buffer.bytes);
    }
  }
  if (!is_before_next) return {};
  return fmt::format("byte -{} of \"{}\", which has {} bytes", next->first - at, next->second.name, next->second.bytes);
}

std::string LocalMemory::describe_nearest(const void* address) const {
  const std::string buffer = describe_near_buffer(address);
  return buffer.empty() ? fmt::format("address {}", address) : buffer;
}

std::string LocalMemory::name_of(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::shared_lock lock(mutex_);
  const auto next = buffers_.upper_bound(at);
  if (next == buffers_.begin()) return "?";
  const auto& [start, buffer] = *std::prev(next);
  return at - start < buffer.bytes ? fmt::format("{}+{}", buffer.name, at - start) : "?";
}

void LocalMemory::check_in_buffer(const char* what, const std::int32_t* signal) const {
  check_aligned(what, signal);
  if (LocalMemory::extent_of(signal, sizeof *signal)) return;
  fail(Code::out_of_range, "{}: the signal is in no window and no tensor ({})", what, describe_nearest(signal));
}

void LocalMemory::record(EventKind kind, const void* address, CheckedBytes bytes, const char* operation,
                         const EventSource& from) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::shared_lock lock(mutex_);
  const auto next = buffers_.upper_bound(at);
  if (next == buffers_.begin() || at - std::prev(next)->first >= std::prev(next)->second.bytes) return;
  const auto& [start, buffer] = *std::prev(next);
  bytes.memory = buffer.shared != 0 ? buffer.shared : mix(checked_.id(), buffer.number);
  bytes.holder = buffer.shared != 0 ? CheckedHolder::node : CheckedHolder::chip;
  bytes.begin = at - start;
  if (kind == EventKind::touch || kind == EventKind::fresh) bytes.last += bytes.begin;
  checked_.record(kind, bytes, buffer.name.c_str(), operation, from);
}

void LocalMemory::note_touch(const void* address, const CheckedRows& rows, CheckedUse use, const char* operation,
                             const EventSource& from) {
  const EventKind kind = rows.rows == 1 ? EventKind::touch : EventKind::touch_rows;
  record(kind, address,
         {.how = static_cast<std::uint8_t>(use), .last = rows.rows == 1 ? rows.row_bytes : rows.packed()}, operation,
         from);
}

void LocalMemory::note_seen(const std::int32_t* word, WaitCmp comparison, std::int64_t value, const char* operation,
                            const EventSource& from) {
  record(EventKind::saw, word,
         {.how = static_cast<std::uint8_t>(comparison),
          .word_bytes = sizeof *word,
          .last = static_cast<std::uint64_t>(value)},
         operation, from);
}

void LocalMemory::note_fresh(const void* address, std::size_t bytes) {
  record(EventKind::fresh, address, {.last = bytes}, "allocate", {});
}

void LocalMemory::notify(std::int32_t* signal, std::int32_t value, NotifyOp op, const EventSource& from) {
  check_in_buffer("notify", signal);
  if (is_checked()) {
    record(EventKind::change, signal,
           {.how = static_cast<std::uint8_t>(op),
            .word_bytes = sizeof value,
            .last = static_cast<std::uint64_t>(std::int64_t{value})},
           "notify", from);
  }
  // Pairs with the loads in wait() and test(). Sequentially consistent because the doorbell is rung after it.
  if (op == NotifyOp::add) {
    word(signal).fetch_add(value, std::memory_order_seq_cst);
  } else {
    word(signal).store(value, std::memory_order_seq_cst);
  }
  tell_change(signal);
  const ParkingPlace place = parking_place();
  place.doorbell->ring(place.scope);
}

void LocalMemory::wait(const std::int32_t* signal, WaitCmp comparison, std::int32_t value, const EventSource& from) {
  check_in_buffer("wait", signal);
  std::int32_t has = 0;
  const auto satisfied = [&] {
    has = word(signal).load(std::memory_order_seq_cst);
    return holds(has, comparison, value);
  };
  if (satisfied() || wait_until(parking_place(), satisfied, Deadline::within(wait_timeout()), [] {})) {
    if (is_checked()) LocalMemory::note_seen(signal, comparison, value, "wait", from);
    return;
  }
  fail(Code::wait_timeout, "waited {} s for a signal of this chip, {} (has {}, needs {} {})",
       std::chrono::duration<double>(wait_timeout()).count(), name_of(signal), has, symbol_of(comparison), value);
}

bool LocalMemory::test(const std::int32_t* signal, WaitCmp comparison, std::int32_t value, const EventSource& from) {
  check_in_buffer("test", signal);
  // Pairs with notify().
  const bool held = holds(word(signal).load(std::memory_order_acquire), comparison, value);
  if (held && is_checked()) LocalMemory::note_seen(signal, comparison, value, "test", from);
  return held;
}

// The top bit tells these spots from those of windows.
std::uint64_t LocalMemory::spot_of(const void* address) const {
  return reinterpret_cast<std::uint64_t>(address) / 64 | std::uint64_t{1} << 63;
}

void LocalMemory::watch(const void* /*address*/, std::int32_t change) {
  // Pairs with tell_change(): either that sees it, or the test after this sees the word.
  watched_.fetch_add(change, std::memory_order_seq_cst);
}

void LocalMemory::tell_change(const void* address) {
  if (watched_.load(std::memory_order_seq_cst) == 0) return;
  {
    const std::lock_guard lock(changes_mutex_);
    changes_.push_back(spot_of(address));
    any_changes_.store(true, std::memory_order_seq_cst);
  }
  const ParkingPlace place = parking_place();
  place.doorbell->ring(place.scope);
}

void LocalMemory::take_changes(FunctionRef<void(std::uint64_t)> changed) {
  std::vector<std::uint64_t> taken;
  {
    const std::lock_guard lock(changes_mutex_);
    taken.swap(changes_);
    any_changes_.store(false, std::memory_order_relaxed);
  }
  for (const std::uint64_t spot : taken) changed(spot);
}

std::chrono::nanoseconds LocalMemory::wait_timeout() const noexcept { return options().wait_timeout; }

int LocalMemory::processors() const noexcept { return usable_processors(); }

// The submitter and the cores that run its tasks seldom wait at the same time.
ParkingPlace LocalMemory::parking_place() const { return {&doorbell_, FutexScope::process, Crowding::spare}; }

}  // namespace baton::chip
