// The DMA engine of a chip: carries out asynchronous copies later, on a fiber of its own.
//
// Copies of one session are carried out in order; copies of different sessions in any order. A copy moves in chunks, so
// that whoever reads too early reads half of it. Its record becomes complete, and its signal fires, after its last
// byte.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <pto/target/core.hpp>

#include "chip/cores/global_memory.hpp"

namespace baton::chip {

struct DmaOptions {
  std::uint64_t chunk_bytes = 64 * 1024;
  /// With a seed, which session goes next and how long it rests between chunks follow from it.
  std::optional<std::uint64_t> seed;
};

/// Any core may submit; one fiber runs serve().
class DmaEngine {
 public:
  /// States of a record. Kernels read it as a 64-bit word: 0 until the copy is complete.
  enum class Record : std::uint64_t { pending = 0, complete = 1, failed = 2 };

  DmaEngine(GlobalMemory& memory, const DmaOptions& options);
  DmaEngine(const DmaEngine&) = delete;
  DmaEngine& operator=(const DmaEngine&) = delete;

  [[nodiscard]] std::uint64_t open_session();

  /// Gives the address of the copy's record, which lives until abandon().
  [[nodiscard]] std::uint64_t submit(const BatonCopy& copy);

  /// The state of a record; if it failed, `why` says so.
  [[nodiscard]] Record state(std::uint64_t record, std::string* why = nullptr) const;

  /// Waits on the calling fiber until the copy is complete or failed. Throws Error (wait_timeout) otherwise.
  [[nodiscard]] Record wait(std::uint64_t record, std::string* why);

  /// Nobody will look at the record again. A copy that is still pending is carried out all the same.
  void abandon(std::uint64_t record);

  /// Carries out copies until stop(). On a fiber of its own.
  void serve();
  void stop();

 private:
  struct Copy {
    BatonCopy request;
    std::atomic<std::uint64_t>* record;
  };
  [[nodiscard]] std::optional<Copy> take();
  void carry_out(const Copy& copy);
  void settle(const Copy& copy, Record state, const std::string& why);
  void rest();

  GlobalMemory& memory_;
  DmaOptions options_;
  std::mt19937_64 random_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::deque<Copy>> sessions_;                            // guarded by mutex_
  std::map<std::uint64_t, std::unique_ptr<std::atomic<std::uint64_t>>> records_;  // guarded by mutex_
  std::map<std::uint64_t, std::string> failures_;                                 // guarded by mutex_
  std::set<std::uint64_t> abandoned_;                                             // pending; guarded by mutex_
  std::uint64_t last_session_ = 0;                                                // guarded by mutex_
  std::atomic<std::uint64_t> pending_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace baton::chip
