#include "chip/completion/chip_window.hpp"

#include <atomic>

#include "base/fail.hpp"

namespace baton::chip {
namespace {

class HostChipWindow final : public ChipWindowState {
 public:
  HostChipWindow(Domain domain, std::string_view name, std::size_t bytes)
      : ChipWindowState(std::string(name), bytes), rank_(domain.rank()), window_(domain.raw_window(name, bytes)) {}

  [[nodiscard]] const CommContext* context() const override { return window_.context(); }
  [[nodiscard]] std::byte* part(int rank) const override { return window_.part(rank); }
  [[nodiscard]] std::byte* local() const override { return window_.local(); }
  void copy_in(std::size_t offset, const void* from, std::size_t count) override {
    window_.put(rank_, offset, from, count, Place{});
  }
  void copy_out(void* to, std::size_t offset, std::size_t count) override {
    window_.get(rank_, offset, to, count, Place{});
  }
  [[nodiscard]] std::int32_t signal(std::size_t offset) override {
    check_signal(offset);
    // Pairs with the change in WindowState::notify(), and with that of a kernel's TNOTIFY; sequentially consistent
    // because it is tested before sleeping.
    return std::atomic_ref(*reinterpret_cast<std::int32_t*>(window_.local() + offset)).load(std::memory_order_seq_cst);
  }
  [[nodiscard]] bool rings() const noexcept override { return true; }

 private:
  int rank_;
  RawWindow window_;
};

}  // namespace

void ChipWindowState::check_range(const char* what, std::size_t offset, std::size_t count) const {
  if (count <= bytes_ && offset <= bytes_ - count) return;
  fail(Situation::outside_window, "{} on \"{}\": {} bytes from byte {} are outside the window of {} bytes", what, name_,
       count, offset, bytes_);
}

void ChipWindowState::check_signal(std::size_t offset) const {
  check_range("signal", offset, sizeof(std::int32_t));
  if (offset % sizeof(std::int32_t) == 0) return;
  fail(Code::misaligned, "a signal of \"{}\" cannot be at byte {}, which is not a multiple of 4", name_, offset);
}

void ChipWindowState::check_rank(int rank, int size) const {
  if (rank >= 0 && rank < size) return;
  fail(Situation::no_such_rank, "access on \"{}\": rank {} is outside 0..{}", name_, rank, size - 1);
}

std::shared_ptr<ChipWindowState> open_host_window(Domain domain, std::string_view name, std::size_t bytes) {
  return std::make_shared<HostChipWindow>(std::move(domain), name, bytes);
}

}  // namespace baton::chip
