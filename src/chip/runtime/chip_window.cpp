#include <baton/chip_window.hpp>

#include "base/fail.hpp"
#include "chip/completion/chip_window.hpp"

namespace baton {

ChipWindow::ChipWindow(std::shared_ptr<chip::ChipWindowState> state) noexcept : state_(std::move(state)) {}

chip::ChipWindowState& ChipWindow::state() const {
  if (!state_) fail(Code::released, "a handle that refers to no window of a chip was used");
  return *state_;
}

std::size_t ChipWindow::bytes() const { return state().bytes(); }
const std::string& ChipWindow::name() const { return state().name(); }
const CommContext* ChipWindow::context() const { return state().context(); }
std::byte* ChipWindow::part(int rank) const { return state().part(rank); }
std::byte* ChipWindow::local() const { return state().local(); }
void ChipWindow::copy_in(std::size_t offset, const void* from, std::size_t count_bytes) const {
  state().copy_in(offset, from, count_bytes);
}
void ChipWindow::copy_out(void* to, std::size_t offset, std::size_t count_bytes) const {
  state().copy_out(to, offset, count_bytes);
}
std::int32_t ChipWindow::signal(std::size_t offset) const { return state().signal(offset); }
bool ChipWindow::rings() const { return state().rings(); }

}  // namespace baton
