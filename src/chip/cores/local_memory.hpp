// The memory of a chip without peers: its own buffers.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "chip/cores/checked_chip.hpp"
#include "chip/cores/global_memory.hpp"

namespace baton::chip {

class LocalMemory : public GlobalMemory {
 public:
  LocalMemory();

  /// Makes `bytes` at `begin` known to kernels under `name`, until remove_buffer(). Throws Error (invalid_argument) if
  /// they overlap another buffer.
  /// `shared`: what other chips call the same memory; 0: it is of this chip alone.
  void add_buffer(const void* begin, std::size_t bytes, std::string name, std::uint64_t shared = 0);
  void remove_buffer(const void* begin);
  /// Changes whenever a buffer comes or goes.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_.load(std::memory_order_relaxed); }
  /// Calls `buffer(begin, bytes)` for each, by address.
  void for_each_buffer(FunctionRef<void(std::uintptr_t, std::size_t)> buffer) const;

  [[nodiscard]] int rank() const noexcept override { return 0; }
  [[nodiscard]] std::optional<Extent> extent_of(const void* begin, std::size_t bytes) const override;
  [[nodiscard]] std::string describe_nearest(const void* address) const override;
  [[nodiscard]] Holder holder_of(const void* /*address*/) const override { return Holder::chip; }
  [[nodiscard]] std::string name_of(const void* address) const override;
  void notify(std::int32_t* signal, std::int32_t value, NotifyOp op, const EventSource& from) override;
  void wait(const std::int32_t* signal, WaitCmp comparison, std::int32_t value, const EventSource& from) override;
  [[nodiscard]] bool test(const std::int32_t* signal, WaitCmp comparison, std::int32_t value,
                          const EventSource& from) override;
  [[nodiscard]] CheckedChip& checked() noexcept override { return checked_; }
  void note_touch(const void* address, const CheckedRows& rows, CheckedUse use, const char* operation,
                  const EventSource& from) override;
  void note_seen(const std::int32_t* word, WaitCmp comparison, std::int64_t value, const char* operation,
                 const EventSource& from) override;
  /// The bytes of a buffer are given to somebody else, who needs no order with those that had them.
  void note_fresh(const void* address, std::size_t bytes);
  [[nodiscard]] std::uint64_t spot_of(const void* address) const override;
  void watch(const void* address, std::int32_t change) override;
  [[nodiscard]] bool any_changes() const noexcept override {
    // Pairs with tell_change(). Sequentially consistent because it is tested before sleeping.
    return any_changes_.load(std::memory_order_seq_cst);
  }
  void take_changes(FunctionRef<void(std::uint64_t)> changed) override;
  void tell_change(const void* address) override;
  [[nodiscard]] std::uint32_t deaths() const noexcept override { return 0; }
  /// The rank that died first, and how; empty while all live or have left.
  [[nodiscard]] virtual std::string lost_peer() const { return {}; }
  void throw_if_hopeless(const std::int32_t* /*signal*/, std::int32_t /*value*/) const override {}
  [[nodiscard]] std::chrono::nanoseconds wait_timeout() const noexcept override;
  [[nodiscard]] int processors() const noexcept override;
  [[nodiscard]] bool outnumbers_processors() const override { return false; }
  [[nodiscard]] ParkingPlace parking_place() const override;

 protected:
  /// The chip of a rank of a job.
  explicit LocalMemory(std::uint32_t rank) : checked_(rank) {}
  /// "byte 70 of \"x\", which has 64 bytes"; empty if no buffer is close enough to explain anything.
  [[nodiscard]] std::string describe_near_buffer(const void* address) const;
  static void check_aligned(const char* what, const std::int32_t* signal);

 private:
  struct Buffer {
    std::size_t bytes;
    std::string name;
    std::uint64_t number;  // of all buffers that this chip has had
    std::uint64_t shared;  // 0: it is of this chip alone
  };
  void record(EventKind kind, const void* address, CheckedBytes bytes, const char* operation,
              const EventSource& from) const;
  void check_in_buffer(const char* what, const std::int32_t* signal) const;

  mutable std::shared_mutex mutex_;
  std::map<std::uintptr_t, Buffer> buffers_;  // guarded by mutex_
  std::uint64_t buffers_added_ = 0;           // guarded by mutex_
  std::atomic<std::uint64_t> version_{0};
  CheckedChip checked_;
  std::atomic<std::int32_t> watched_{0};
  std::mutex changes_mutex_;
  std::vector<std::uint64_t> changes_;  // guarded by changes_mutex_
  std::atomic<bool> any_changes_{false};
  mutable Doorbell doorbell_;
};

}  // namespace baton::chip
