#include <baton/window.hpp>

#include "base/fail.hpp"
#include "comm/window_state.hpp"

namespace baton {

comm::WindowState& RawWindow::state() const {
  if (!state_) [[unlikely]]
    fail(Code::released, "a window handle that refers to no window was used");
  return *state_;
}

std::size_t RawWindow::bytes() const { return state().bytes(); }
const std::string& RawWindow::name() const { return state().name(); }
std::byte* RawWindow::part(int rank) const { return state().part(rank); }
bool RawWindow::is_mapped(int rank) const { return state().is_mapped(rank); }
std::byte* RawWindow::local() const { return state().part(static_cast<int>(state().domain().rank())); }
bool RawWindow::is_local(const void* address, std::size_t count_bytes) const {
  return state().is_local(address, count_bytes);
}
const CommContext* RawWindow::context() const { return state().context(); }
void RawWindow::release() { state().release(); }

void RawWindow::put(int peer, std::size_t offset, const void* source, std::size_t count_bytes, Place where) const {
  state().put(peer, offset, source, count_bytes, where);
}

void RawWindow::get(int peer, std::size_t offset, void* target, std::size_t count_bytes, Place where) const {
  state().get(peer, offset, target, count_bytes, where);
}

void RawWindow::put_signal(int peer, std::size_t offset, const void* source, std::size_t count_bytes,
                           const RawWindow& signals, std::size_t signal_offset, std::int32_t value, NotifyOp op,
                           Place where) const {
  if (&signals.state().domain() != &state().domain()) {
    fail(Situation::other_domain, "put_signal: \"{}\" and \"{}\" belong to different domains", name(), signals.name());
  }
  state().put_signal(peer, offset, source, count_bytes, signals.state(), signal_offset, value, op, where);
}

void RawWindow::notify(int peer, std::size_t offset, std::int32_t value, NotifyOp op, Place where) const {
  state().notify(peer, offset, value, op, {where});
}

void RawWindow::wait(std::size_t offset, WaitCmp comparison, std::int32_t value, Place where) const {
  wait(offset, comparison, value, state().domain().world().wait_timeout(), where);
}

void RawWindow::wait(std::size_t offset, WaitCmp comparison, std::int32_t value, std::chrono::nanoseconds timeout,
                     Place where) const {
  state().wait(static_cast<int>(state().domain().rank()), offset, comparison, value, timeout, {where});
}

bool RawWindow::test(std::size_t offset, WaitCmp comparison, std::int32_t value, Place where) const {
  return state().test(static_cast<int>(state().domain().rank()), offset, comparison, value, {.where = where});
}

bool RawWindow::is_checked() noexcept { return baton::is_checked(); }

void RawWindow::note_read(const void* address, std::size_t count_bytes, Place where, const char* what) const {
  if (baton::is_checked())
    comm::note_touch(state().domain().world(), address, count_bytes, CheckedUse::read, what, where);
}

void RawWindow::note_write(const void* address, std::size_t count_bytes, Place where, const char* what) const {
  if (baton::is_checked())
    comm::note_touch(state().domain().world(), address, count_bytes, CheckedUse::write, what, where);
}

void RawWindow::note_change(int owner, std::size_t offset, NotifyOp op, std::int64_t value) const {
  if (baton::is_checked())
    comm::note_change(state().checked_part(owner), offset, sizeof value, op, value, "change", {});
}

void RawWindow::note_seen(int owner, std::size_t offset, WaitCmp comparison, std::int64_t value) const {
  if (baton::is_checked())
    comm::note_seen(state().checked_part(owner), offset, sizeof value, comparison, value, "look", {});
}

void RawWindow::advance(int owner, std::size_t offset, std::uint64_t value) const {
  state().advance(owner, offset, value);
}

void RawWindow::wait_reached(int owner, std::size_t offset, std::uint64_t value, Needed needed,
                             std::chrono::nanoseconds timeout) const {
  state().wait_reached(owner, offset, value, needed, timeout);
}

bool RawWindow::reaches_within(int owner, std::size_t offset, std::uint64_t value, Needed needed,
                               std::chrono::nanoseconds timeout) const {
  return state().reaches_within(owner, offset, value, needed, timeout);
}

void RawWindow::put_advance(int peer, std::size_t offset, const void* source, std::size_t count_bytes, std::size_t word,
                            std::uint64_t value) const {
  state().put_advance(peer, offset, source, count_bytes, word, value);
}

std::unique_ptr<Transfer> RawWindow::start_put_advance(int peer, std::size_t offset, const void* source,
                                                       std::size_t count_bytes, std::size_t word,
                                                       std::uint64_t value) const {
  return state().start_put_advance(peer, offset, source, count_bytes, word, value);
}

void RawWindow::finish(Transfer& transfer) const { state().finish(transfer); }

std::unique_ptr<Landing> RawWindow::land(std::size_t offset, void* target, std::size_t count_bytes) const {
  return state().land(offset, {static_cast<std::byte*>(target), count_bytes});
}

bool RawWindow::is_told_within(int from, std::size_t offset, std::uint64_t value,
                               std::chrono::nanoseconds timeout) const {
  return state().is_told_within(from, offset, value, timeout);
}

std::string RawWindow::activity_of(int rank) const { return state().activity_of(rank); }

void RawWindow::check_members() const { state().domain().throw_if_dead(); }

}  // namespace baton
