// Strict order of pipes: holds every access of a kernel against what its flags and barriers promise.
//
// What they promise is the same on every platform (pto/order/pipe_order.hpp). Here each byte knows its last writer and
// its last readers. An access that conflicts with one that is not ordered before it is found whenever the kernel runs
// through both instructions, whatever the timing. docs/explanation/simulated-cores.md tells what follows.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <pto/order/pipe_order.hpp>
#include <pto/target/core.hpp>

#include "chip/cores/global_memory.hpp"
#include "chip/cores/sim/access_map.hpp"
#include "chip/cores/sim/buffers.hpp"

namespace baton::chip {

/// "TADD at scale.cpp:12"
[[nodiscard]] std::string describe_place(const BatonPlace* place);

/// One kernel of one core at a time. Functions that judge return what is wrong, or nothing.
class OrderChecker {
 public:
  /// `buffers` are the core's, of the kind `set`.
  OrderChecker(const BatonBuffer (&buffers)[BATON_CORE_BUFFERS], BufferSet set, const GlobalMemory& memory);

  [[nodiscard]] std::optional<std::string> issue(const BatonIssue& issue);

  /// A notify publishes only what was drained to the scalar pipe before it. Stores that are still under way where its
  /// observers can see them are overtaken.
  [[nodiscard]] std::optional<std::string> notify(const std::int32_t* signal);

  /// An asynchronous copy reads and writes at any time from now until it is awaited.
  [[nodiscard]] std::optional<std::string> submit(const BatonCopy& copy, std::uint64_t record, const BatonPlace& place);
  /// The scalar pipe has seen the copy complete, hence all earlier ones of its session.
  void awaited(std::uint64_t record);

  void set_flag(std::uint32_t producer, std::uint32_t consumer, std::int32_t id);
  void wait_flag(std::uint32_t producer, std::uint32_t consumer, std::int32_t id);
  void barrier(std::uint32_t pipe);

  /// How many pieces of memory it remembers accesses to.
  [[nodiscard]] std::size_t remembered() const noexcept { return accesses_.size(); }

  /// Before the next kernel.
  void clear();

 private:
  struct OpenCopy {
    std::uint64_t session;
    std::uint64_t record;
    ByteRange source;
    ByteRange destination;
    std::uint32_t place;
  };
  /// The last write of a pipe to global memory.
  struct GlobalWrite {
    Stamp stamp;
    const void* address = nullptr;
  };
  enum class Touch : std::uint8_t { read, write };

  [[nodiscard]] std::uint32_t number_of(const BatonPlace& place);
  [[nodiscard]] std::optional<std::string> touch(ByteRange run, std::uint32_t access, const Stamp& by,
                                                 const PipeClock& now);
  [[nodiscard]] std::optional<std::string> against_copies(ByteRange run, std::uint32_t access);
  [[nodiscard]] std::optional<std::string> against_instructions(ByteRange run, Touch access);
  [[nodiscard]] std::optional<std::string> overtaken(const GlobalWrite& write) const;
  void forget_what_is_over();

  [[nodiscard]] std::string describe_bytes(ByteRange bytes) const;
  [[nodiscard]] std::string conflict(ByteRange bytes, Touch second, std::uint32_t pipes, const Stamp& first,
                                     Touch first_access) const;

  const BatonBuffer (&buffers_)[BATON_CORE_BUFFERS];
  const GlobalMemory& memory_;
  std::uint32_t pipes_;  // bits: those this kind of core has
  kernel::PipeOrder order_;
  AccessMap accesses_;
  std::size_t size_to_tidy_ = kLeastToTidy;
  /// By pipe; to any memory, and to windows.
  std::array<GlobalWrite, kPipes> last_write_{};
  std::array<GlobalWrite, kPipes> last_window_write_{};
  std::vector<OpenCopy> copies_;
  /// Places that stamps refer to.
  std::vector<BatonPlace> places_;
  std::map<std::tuple<const char*, const char*, std::uint32_t>, std::uint32_t> place_numbers_;

  static constexpr std::size_t kLeastToTidy = 4096;
};

}  // namespace baton::chip
