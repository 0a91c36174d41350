#include "comm/address_book.hpp"

#include <array>
#include <atomic>
#include <map>
#include <shared_mutex>

#include <fmt/format.h>

#include "comm/window_state.hpp"

namespace baton::comm {
namespace {

/// All parts of one window, as this process maps them.
struct Entry {
  const WindowState* window;
  std::uint64_t stride;
  std::uint32_t parts;
};

std::shared_mutex book_mutex;

/// By the address of part 0 and the rank whose window it is.
using Key = std::pair<std::uintptr_t, const World*>;
std::map<Key, Entry>& book() {
  static std::map<Key, Entry> entries;
  return entries;
}

/// Grows whenever a window comes or goes. Relaxed: a thread that is given an address of a window knows that it came,
/// and so does its thread.
std::atomic<std::uint64_t> book_version{1};

/// What a thread has looked up lately.
struct Lately {
  const World* viewer = nullptr;
  std::uintptr_t first_part = 0;
  Entry entry{};
};
constexpr std::size_t kLately = 4;
struct LookedUp {
  std::uint64_t version = 0;  // of the book, when they were looked up
  std::array<Lately, kLately> entries;
  std::size_t next = 0;
};
constinit thread_local LookedUp looked_up;

/// Where in the window the bytes are, unless they are in none of its parts.
std::optional<WindowPlace> place_in(std::uintptr_t first_part, const Entry& entry, std::uintptr_t at,
                                    std::size_t bytes) {
  const std::uint64_t distance = at - first_part;
  const std::uint64_t part = distance / entry.stride;
  const std::uint64_t offset = distance % entry.stride;
  const std::uint64_t usable = entry.window->bytes();
  if (part >= entry.parts || bytes > usable || offset > usable - bytes) return std::nullopt;
  return WindowPlace{entry.window, static_cast<int>(part), offset};
}

/// The entry that begins last at or before `address`; end() if none does.
std::map<Key, Entry>::const_iterator entry_before(std::uintptr_t address) {
  auto next = book().upper_bound({address, reinterpret_cast<const World*>(UINTPTR_MAX)});
  return next == book().begin() ? book().end() : std::prev(next);
}

}  // namespace

void enter_window(const WindowState* window, const std::byte* first_part, std::uint64_t stride, std::uint32_t parts) {
  const std::unique_lock lock(book_mutex);
  book()[{reinterpret_cast<std::uintptr_t>(first_part), &window->domain().world()}] = {window, stride, parts};
  book_version.fetch_add(1, std::memory_order_relaxed);
}

void remove_window(const WindowState* window, const std::byte* first_part) noexcept {
  const std::unique_lock lock(book_mutex);
  book().erase({reinterpret_cast<std::uintptr_t>(first_part), &window->domain().world()});
  book_version.fetch_add(1, std::memory_order_relaxed);
}

std::optional<WindowPlace> find_window(const World& viewer, const void* address, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::uint64_t version = book_version.load(std::memory_order_relaxed);
  if (looked_up.version != version) {
    looked_up = LookedUp{};
    looked_up.version = version;
  }
  for (const Lately& lately : looked_up.entries) {
    if (lately.viewer != &viewer) continue;
    if (at - lately.first_part < lately.entry.stride * lately.entry.parts) {
      return place_in(lately.first_part, lately.entry, at, bytes);
    }
  }
  const std::shared_lock lock(book_mutex);
  auto found = entry_before(at);
  if (found != book().end()) found = book().find({found->first.first, &viewer});
  if (found == book().end() || found->second.stride == 0) return std::nullopt;
  const auto& [key, entry] = *found;
  looked_up.entries[looked_up.next++ % kLately] = {&viewer, key.first, entry};
  return place_in(key.first, entry, at, bytes);
}

std::string describe_nearest_window(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::shared_lock lock(book_mutex);
  const auto found = entry_before(at);
  if (found == book().end() || found->second.stride == 0) {
    if (book().empty()) return {};
    return fmt::format("{} bytes before \"{}\"", book().begin()->first.first - at,
                       book().begin()->second.window->name());
  }
  const auto& [key, entry] = *found;
  const std::uint64_t distance = at - key.first;
  const std::uint64_t part = std::min<std::uint64_t>(distance / entry.stride, entry.parts - 1);
  const std::uint64_t offset = distance - part * entry.stride;
  return fmt::format("byte {} of rank {}'s part of \"{}\", which has {} bytes", offset, part, entry.window->name(),
                     entry.window->bytes());
}

}  // namespace baton::comm
