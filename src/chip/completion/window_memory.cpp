#include "chip/completion/window_memory.hpp"

#include <atomic>
#include <mutex>

#include "base/fail.hpp"
#include "comm/address_book.hpp"
#include "comm/wait_record.hpp"
#include "comm/window_state.hpp"

namespace baton::chip {
namespace {

std::atomic_ref<std::int32_t> word(const std::int32_t* signal) {
  return std::atomic_ref(*const_cast<std::int32_t*>(signal));
}

void check_aligned(const char* what, const std::int32_t* signal) {
  if (reinterpret_cast<std::uintptr_t>(signal) % sizeof(std::int32_t) == 0) return;
  fail(Code::misaligned, "{}: a signal cannot be at {}, which is no multiple of 4", what,
       static_cast<const void*>(signal));
}

}  // namespace

void WindowMemory::add_buffer(const void* begin, std::size_t bytes, std::string name) {
  const std::unique_lock lock(mutex_);
  buffers_[reinterpret_cast<std::uintptr_t>(begin)] = {bytes, std::move(name)};
}

void WindowMemory::remove_buffer(const void* begin) {
  const std::unique_lock lock(mutex_);
  buffers_.erase(reinterpret_cast<std::uintptr_t>(begin));
}

bool WindowMemory::in_buffer(const void* begin, std::size_t bytes) const {
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  const std::shared_lock lock(mutex_);
  auto next = buffers_.upper_bound(at);
  if (next == buffers_.begin()) return false;
  const auto& [start, buffer] = *std::prev(next);
  return bytes <= buffer.bytes && at - start <= buffer.bytes - bytes;
}

bool WindowMemory::known(const void* begin, std::size_t bytes) const {
  return in_buffer(begin, bytes) || comm::find_window(*world_, begin, bytes).has_value();
}

std::string WindowMemory::describe_nearest(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  {
    const std::shared_lock lock(mutex_);
    auto next = buffers_.upper_bound(at);
    if (next != buffers_.begin()) {
      const auto& [start, buffer] = *std::prev(next);
      // Far away, the nearest buffer explains nothing.
      if (at - start < 2 * buffer.bytes + 4096) {
        return fmt::format("byte {} of \"{}\", which has {} bytes", at - start, buffer.name, buffer.bytes);
      }
    }
  }
  const std::string window = comm::describe_nearest_window(address);
  return window.empty() ? fmt::format("address {}", address) : window;
}

void WindowMemory::notify(std::int32_t* signal, std::int32_t value, NotifyOp op) {
  check_aligned("notify", signal);
  if (const auto place = comm::find_window(*world_, signal, sizeof *signal)) {
    place->window->notify(place->rank, place->offset, value, op);
    return;
  }
  if (!in_buffer(signal, sizeof *signal)) {
    fail(Code::out_of_range, "notify: the signal is in no window and no tensor ({})", describe_nearest(signal));
  }
  // Pairs with the loads in wait_in_buffer() and test(). Sequentially consistent because the doorbell is rung after it.
  if (op == NotifyOp::add) {
    word(signal).fetch_add(value, std::memory_order_seq_cst);
  } else {
    word(signal).store(value, std::memory_order_seq_cst);
  }
  parking_place().doorbell->ring(parking_place().scope);
}

void WindowMemory::wait(const std::int32_t* signal, WaitCmp comparison, std::int32_t value) {
  check_aligned("wait", signal);
  if (const auto place = comm::find_window(*world_, signal, sizeof *signal)) {
    place->window->wait(place->rank, place->offset, comparison, value, world_->wait_timeout());
    return;
  }
  if (!in_buffer(signal, sizeof *signal)) {
    fail(Code::out_of_range, "wait: the signal is in no window and no tensor ({})", describe_nearest(signal));
  }
  wait_in_buffer(signal, comparison, value);
}

void WindowMemory::wait_in_buffer(const std::int32_t* signal, WaitCmp comparison, std::int32_t value) {
  std::int32_t has = 0;
  const auto satisfied = [&] {
    has = word(signal).load(std::memory_order_seq_cst);
    return holds(has, comparison, value);
  };
  if (satisfied() || wait_until(parking_place(), satisfied, Deadline::within(world_->wait_timeout()), [] {})) {
    return;
  }
  fail(Code::wait_timeout, "waited {} for a signal of this chip (has {}, needs {} {})",
       comm::describe_duration(world_->wait_timeout().count()), has, comm::symbol_of(comparison), value);
}

bool WindowMemory::test(const std::int32_t* signal, WaitCmp comparison, std::int32_t value) {
  check_aligned("test", signal);
  if (!known(signal, sizeof *signal)) {
    fail(Code::out_of_range, "test: the signal is in no window and no tensor ({})", describe_nearest(signal));
  }
  // Pairs with notify(), here and in WindowState.
  return holds(word(signal).load(std::memory_order_acquire), comparison, value);
}

}  // namespace baton::chip
