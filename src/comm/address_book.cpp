#include "comm/address_book.hpp"

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

/// The entry that begins last at or before `address`; end() if none does.
std::map<Key, Entry>::const_iterator entry_before(std::uintptr_t address) {
  auto next = book().upper_bound({address, reinterpret_cast<const World*>(UINTPTR_MAX)});
  return next == book().begin() ? book().end() : std::prev(next);
}

}  // namespace

void enter_window(const WindowState* window, const std::byte* first_part, std::uint64_t stride, std::uint32_t parts) {
  const std::unique_lock lock(book_mutex);
  book()[{reinterpret_cast<std::uintptr_t>(first_part), &window->domain().world()}] = {window, stride, parts};
}

void remove_window(const WindowState* window, const std::byte* first_part) noexcept {
  const std::unique_lock lock(book_mutex);
  book().erase({reinterpret_cast<std::uintptr_t>(first_part), &window->domain().world()});
}

std::optional<WindowPlace> find_window(const World& viewer, const void* address, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::shared_lock lock(book_mutex);
  auto found = entry_before(at);
  if (found != book().end()) found = book().find({found->first.first, &viewer});
  if (found == book().end() || found->second.stride == 0) return std::nullopt;
  const std::uint64_t distance = at - found->first.first;
  const std::uint64_t part = distance / found->second.stride;
  const std::uint64_t offset = distance % found->second.stride;
  const std::uint64_t usable = found->second.window->bytes();
  if (part >= found->second.parts || bytes > usable || offset > usable - bytes) return std::nullopt;
  return WindowPlace{found->second.window, static_cast<int>(part), offset};
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
