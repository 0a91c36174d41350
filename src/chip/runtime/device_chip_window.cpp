#include "chip/runtime/device_chip_window.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include "base/fail.hpp"
#include "chip/completion/domain_group.hpp"

namespace baton::chip {
namespace {

const void* pointer(std::uint64_t address) { return reinterpret_cast<const void*>(address); }

/// Collective. All members see the same numbers, so all refuse.
std::unique_ptr<WindowGroup> of_one_size(std::unique_ptr<WindowGroup> group, const std::string& name,
                                         std::uint64_t bytes) {
  std::vector<std::uint64_t> all(group->size());
  group->exchange(nullptr, std::as_bytes(std::span(&bytes, 1)), std::as_writable_bytes(std::span(all)));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    fail(Code::mismatch, "members want different windows: rank 0 asks for \"{}\" of {} bytes, rank {} for {} bytes",
         name, all[0], rank, all[rank]);
  }
  return group;
}

}  // namespace

DeviceChipWindow::DeviceChipWindow(Device& device, std::shared_ptr<LocalMemory> known,
                                   std::shared_ptr<ClosingWindows> closing, std::unique_ptr<WindowGroup> group,
                                   std::string name, std::size_t bytes)
    : ChipWindowState(std::move(name), bytes),
      memory_(device.memory()),
      known_(std::move(known)),
      closing_(std::move(closing)),
      group_(of_one_size(std::move(group), this->name(), bytes)),
      window_(device.open_window(*group_, bytes)) {
  try {
    tell_kernels();
  } catch (...) {
    give_up();
    throw;
  }
}

DeviceChipWindow::~DeviceChipWindow() { give_up(); }

void DeviceChipWindow::tell_kernels() {
  const std::vector<std::uint64_t>& parts = window_->parts();
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    known_->add_buffer(pointer(parts[rank]), bytes(), fmt::format("{}[{}]", name(), rank));
  }
  const std::size_t context_bytes = context_at(0, group_->rank(), bytes(), parts).size() * sizeof(std::uint64_t);
  context_ = OwnedBuffer(memory_, context_bytes);
  const std::uint64_t at = context_.buffer().address;
  memory_->copy_in(at, context_at(at, group_->rank(), bytes(), parts).data(), context_bytes);
  known_->add_buffer(context_.data(), context_bytes, fmt::format("context of {}", name()));
}

void DeviceChipWindow::give_up() noexcept {
  if (context_.buffer().address != 0) known_->remove_buffer(context_.data());
  for (const std::uint64_t part : window_->parts()) known_->remove_buffer(pointer(part));
  closing_->add(std::move(window_), std::move(group_), std::move(context_));
}

std::byte* DeviceChipWindow::part(int rank) const {
  check_rank(rank, static_cast<int>(group_->size()));
  return reinterpret_cast<std::byte*>(window_->parts()[static_cast<std::size_t>(rank)]);
}

std::uint64_t DeviceChipWindow::local_address(std::size_t offset) const {
  return window_->parts()[group_->rank()] + offset;
}

void DeviceChipWindow::copy_in(std::size_t offset, const void* from, std::size_t count) {
  check_range("copy_in", offset, count);
  memory_->copy_in(local_address(offset), from, count);
}

void DeviceChipWindow::copy_out(void* to, std::size_t offset, std::size_t count) {
  check_range("copy_out", offset, count);
  memory_->copy_out(to, local_address(offset), count);
}

std::int32_t DeviceChipWindow::signal(std::size_t offset) {
  check_signal(offset);
  std::int32_t value = 0;
  memory_->copy_out(&value, local_address(offset), sizeof value);
  return value;
}

}  // namespace baton::chip
