// The memory of a chip that is a rank of a domain: its own buffers and the windows of its domains. Here, and nowhere
// else, a chip meets the communication layer.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <baton/domain.hpp>

#include "chip/cores/local_memory.hpp"
#include "comm/address_book.hpp"
#include "comm/standing_waits.hpp"
#include "comm/world.hpp"

namespace baton::chip {

/// Whether kernels reach windows of the host (Domain::window()).
enum class HostWindows : std::uint8_t { reached, out_of_reach };

class WindowMemory final : public LocalMemory {
 public:
  /// A chip that is `world`'s rank.
  explicit WindowMemory(std::shared_ptr<comm::World> world, HostWindows host_windows = HostWindows::reached)
      : LocalMemory(world->rank()),
        world_(std::move(world)),
        host_windows_(host_windows),
        written_(world_->path() == nullptr ? 0 : world_->size()) {}

  [[nodiscard]] int rank() const noexcept override { return static_cast<int>(world_->rank()); }
  [[nodiscard]] std::optional<Extent> extent_of(const void* begin, std::size_t bytes) const override;
  [[nodiscard]] std::string describe_nearest(const void* address) const override;
  [[nodiscard]] Holder holder_of(const void* address) const override;
  [[nodiscard]] bool has_far_memory() const noexcept override { return world_->path() != nullptr; }
  [[nodiscard]] bool is_far(const void* address) const override { return far_place(address, 1).has_value(); }
  void copy(void* to, const void* from, std::size_t bytes) override;
  [[nodiscard]] std::unique_ptr<Transfer> start_far_copy(void* to, const void* from, std::size_t bytes) override;
  void add_far(void* to, Element element, const void* addends, std::size_t bytes) override;
  void scatter_far(const BatonScatter& pieces) override;
  [[nodiscard]] std::string name_of(const void* address) const override;
  void notify(std::int32_t* signal, std::int32_t value, NotifyOp op, const EventSource& from) override;
  void wait(const std::int32_t* signal, WaitCmp comparison, std::int32_t value, const EventSource& from) override;
  [[nodiscard]] bool test(const std::int32_t* signal, WaitCmp comparison, std::int32_t value,
                          const EventSource& from) override;
  void note_touch(const void* address, const CheckedRows& rows, CheckedUse use, const char* operation,
                  const EventSource& from) override;
  void note_seen(const std::int32_t* word, WaitCmp comparison, std::int64_t value, const char* operation,
                 const EventSource& from) override;
  void note_deferral(const std::int32_t* word, std::int32_t needs, std::uint64_t began, const Place& where) override;
  [[nodiscard]] std::uint64_t spot_of(const void* address) const override;
  void watch(const void* address, std::int32_t change) override;
  [[nodiscard]] bool any_changes() const noexcept override;
  void take_changes(FunctionRef<void(std::uint64_t)> changed) override;
  void tell_change(const void* address) override;
  [[nodiscard]] std::uint32_t deaths() const noexcept override;
  [[nodiscard]] std::string lost_peer() const override;
  void throw_if_hopeless(const std::int32_t* signal, std::int32_t value) const override;
  [[nodiscard]] std::chrono::nanoseconds wait_timeout() const noexcept override { return world_->wait_timeout(); }
  [[nodiscard]] int processors() const noexcept override;
  [[nodiscard]] bool outnumbers_processors() const override;
  [[nodiscard]] ParkingPlace parking_place() const override;
  void show_kernels(std::span<const LongKernel> kernels) noexcept override;
  [[nodiscard]] bool shows(const std::int32_t* word) const override;
  void show_deferred(std::span<const DeferredWait> oldest, std::size_t others) override;
  [[nodiscard]] std::chrono::steady_clock::time_point next_look() const override { return deferred_.next_look(); }
  void look_at_others() override { deferred_.look(); }

 private:
  /// The place of known bytes if it is on another host.
  [[nodiscard]] std::optional<comm::WindowPlace> far_place(const void* address, std::size_t bytes) const;
  /// Something was sent to a rank of another host.
  void note_written(const comm::WindowPlace& target);
  /// Before this rank tells another one something: what it has written to third ranks has arrived, as it has on one
  /// host.
  void await_written(const comm::WindowPlace& told);
  /// How many of the ranks can run at once.
  [[nodiscard]] int job_processors() const noexcept { return static_cast<int>(world_->control().processors); }

  std::shared_ptr<comm::World> world_;
  HostWindows host_windows_;
  // What was written to other hosts, numbered: how much there was, how much of it is known to have arrived, and the
  // last of each rank. Relaxed: who tells others of what it wrote has noted it before.
  std::atomic<std::uint64_t> writes_{0};
  std::atomic<std::uint64_t> arrived_{0};
  std::vector<std::atomic<std::uint64_t>> written_;
  comm::StandingWaits deferred_{*world_};
};

/// The memory of a chip that is the rank of `me`.
[[nodiscard]] std::unique_ptr<LocalMemory> memory_of_rank(const Domain& me, HostWindows host_windows);

}  // namespace baton::chip
