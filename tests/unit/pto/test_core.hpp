// A core for tests: runs a kernel on the calling thread, with the buffers of an A2/A3 chip.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <pto/target/core.hpp>

namespace baton::test {

/// What an instruction reported.
class KernelFailure : public std::runtime_error {
 public:
  explicit KernelFailure(const BatonFailure& failure);

  int code;
  std::string instruction;
  std::string file;
  std::uint32_t line;
};

/// Lets threads that run cores wait for each other's signals.
struct SignalBoard {
  std::mutex mutex;
  std::condition_variable changed;
};

/// An instruction as the core was told of it.
struct IssuedInstruction {
  std::string name;
  std::uint32_t pipes;
  std::vector<BatonTileRange> tiles;
  std::vector<BatonGlobalRange> globals;
};

struct CoreBytes {
  std::size_t vec = 192 * 1024;
  std::size_t mat = 512 * 1024;
  std::size_t left = 64 * 1024;
  std::size_t right = 64 * 1024;
  std::size_t acc = 128 * 1024;
  std::size_t bias = 1024;
};

/// While it lives, it is the current core of its thread. Errors are KernelFailure exceptions.
///
/// Without a board a wait whose comparison does not hold is an error. Copies move when they are awaited or tested.
class TestCore : public BatonCore {
 public:
  explicit TestCore(SignalBoard* board = nullptr, const CoreBytes& bytes = {});
  TestCore(const TestCore&) = delete;
  TestCore& operator=(const TestCore&) = delete;
  ~TestCore();

  /// Restricts the kernel to the regions named so; without any, all memory is known.
  void allow(const std::string& name, const void* begin, std::size_t bytes);

  /// Records all instructions from now on.
  void watch();
  [[nodiscard]] const std::vector<IssuedInstruction>& issued() const { return issued_; }

  /// What the kernel has printed so far.
  [[nodiscard]] const std::string& printed() const { return printed_; }

  /// What a runtime does when the kernel returned: flags and copies left open are errors.
  void finish();

  [[nodiscard]] std::size_t open_copies() const { return copies_.size(); }
  /// Moves the bytes of the oldest copy.
  void advance_copies();

 private:
  struct Region {
    std::string name;
    std::uintptr_t begin;
    std::size_t bytes;
  };
  struct Copy {
    BatonCopy request;
    std::uint64_t* record;
  };
  struct OpenEvent {
    std::uint64_t record;
    std::uint64_t session;
  };
  struct Flag {
    std::uint32_t producer;
    std::uint32_t consumer;
    std::int32_t id;
    auto operator<=>(const Flag&) const = default;
  };

  static const BatonCoreTable& functions();
  static TestCore& self(BatonCore* core) { return *static_cast<TestCore*>(core); }

  bool address_known(std::uintptr_t begin, std::uint64_t bytes) const;
  bool signal_holds(const std::int32_t* signal, std::int32_t value, std::uint32_t comparison) const;
  void notify(std::int32_t* signal, std::int32_t value, std::uint32_t op);
  /// Somebody waits for this copy, and with it for the earlier ones of its session.
  void settle(std::uint64_t record);
  void wait(const std::int32_t* signal, std::int32_t value, std::uint32_t comparison, const BatonPlace* place);
  [[noreturn]] static void fail(std::int32_t code, const BatonPlace* place, const std::string& text);

  SignalBoard* board_;
  BatonCore* outer_;
  std::vector<std::vector<unsigned char>> memory_;
  std::vector<Region> regions_;
  std::vector<IssuedInstruction> issued_;
  std::string printed_;
  std::set<Flag> flags_;
  std::deque<Copy> copies_;
  std::vector<OpenEvent> unawaited_;  // in the order of submission
  std::vector<std::unique_ptr<std::uint64_t>> records_;
  std::uint64_t sessions_ = 0;
};

}  // namespace baton::test
