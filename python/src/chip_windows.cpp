#include "chip_windows.hpp"

#include <utility>

namespace baton::python {
namespace {

/// One rank's part, where the kernels of the chip find it.
class PartMemory final : public Memory {
 public:
  PartMemory(std::shared_ptr<ChipTicket> ticket, ChipWindow window, int rank)
      : Memory({.address = reinterpret_cast<std::uint64_t>(window.part(rank)), .bytes = window.bytes()}, Writable::yes),
        ticket_(std::move(ticket)),
        place_(ticket_->thread->chip().memory_place()),
        window_(std::move(window)) {}
  [[nodiscard]] MemoryPlace place() const noexcept override { return place_; }

 private:
  std::shared_ptr<ChipTicket> ticket_;
  MemoryPlace place_;
  ChipWindow window_;
};

}  // namespace

ChipWindowHandle::ChipWindowHandle(std::shared_ptr<ChipTicket> ticket, ChipWindow window)
    : ticket_(std::move(ticket)), window_(std::move(window)) {}

Array ChipWindowHandle::part(int rank) {
  auto& memory = parts_[rank];
  if (!memory) memory = std::make_shared<PartMemory>(ticket_, window_, rank);
  const std::int64_t extent[] = {static_cast<std::int64_t>(window_.bytes())};
  return {Tensor(memory->buffer(), DType::uint8, extent), memory};
}

void ChipWindowHandle::release() {
  for (const auto& [rank, memory] : parts_) memory->release("the window \"" + window_.name() + "\"");
  parts_.clear();
  window_ = {};
  ticket_.reset();
}

ChipWindowHandle open_window(ChipHost& host, const Domain& domain, const std::string& name, std::size_t bytes) {
  const auto window = std::make_shared<ChipWindow>();
  host.run_there([=](Chip& chip) { *window = chip.window(domain, name, bytes); });
  return {host.ticket(), std::move(*window)};
}

}  // namespace baton::python
