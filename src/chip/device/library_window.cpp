#include "chip/device/library_window.hpp"

#include <exception>

#include "base/log.hpp"

namespace baton::chip {
namespace {

/// The group as a library sees it. What an exchange throws waits here until the library has returned.
struct GroupOfLibrary {
  explicit GroupOfLibrary(WindowGroup& members) : group(members) {}

  static int exchange(void* context, int status, const char* message, const void* mine, std::size_t bytes,
                      void* all) noexcept {
    auto& self = *static_cast<GroupOfLibrary*>(context);
    try {
      const Error failure(status == 0 ? Code::internal : error_info(static_cast<Code>(status)).code,
                          message == nullptr ? "" : message);
      self.group.exchange(status == 0 ? nullptr : &failure, {static_cast<const std::byte*>(mine), bytes},
                          {static_cast<std::byte*>(all), bytes * self.group.size()});
      return 0;
    } catch (const Error& error) {
      self.keep_first(status);
      return static_cast<int>(error.code());
    } catch (...) {
      self.keep_first(status);
      return static_cast<int>(Code::internal);
    }
  }

  /// The library knows its own failure better, and what follows from the first one is nobody's business.
  void keep_first(int status) noexcept {
    if (!has_failed && status == 0) thrown = std::current_exception();
    has_failed = true;
  }

  [[nodiscard]] BatonGroup get() { return {group.rank(), group.size(), this, &exchange, group.hosts().data()}; }

  WindowGroup& group;
  bool has_failed = false;
  std::exception_ptr thrown;
};

}  // namespace

LibraryWindow::LibraryWindow(std::shared_ptr<OpenDevice> open, WindowGroup& group, std::size_t bytes)
    : open_(std::move(open)), group_(group) {
  const platform::PlatformLibrary& library = open_->library();
  GroupOfLibrary members(group);
  const BatonGroup given = members.get();
  parts_.resize(group.size());
  const int status = library.window_open(open_->get(), &given, bytes, parts_.data(), &window_);
  if (status != 0 && members.thrown) std::rethrow_exception(members.thrown);
  library.check("baton_window_open", status);
  open_->add(group_);
}

LibraryWindow::~LibraryWindow() {
  open_->remove(group_);
  const platform::PlatformLibrary& library = open_->library();
  if (library.window_close(window_) != 0) log::warn("closing a window: {}", library.last_error());
}

void LibraryWindow::leave() noexcept {
  open_->remove(group_);
  const platform::PlatformLibrary& library = open_->library();
  if (library.window_leave(window_) != 0) log::warn("leaving a window: {}", library.last_error());
}

}  // namespace baton::chip
