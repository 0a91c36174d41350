// The record of an operation that finishes later, such as a copy of a DMA engine.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include <baton/error.hpp>

namespace baton::chip {

enum class OperationState : std::uint64_t { pending = 0, complete = 1, failed = 2 };

/// The thread that carries the operation out settles it once; it lives for as long as anybody holds it.
class OperationRecord {
 public:
  OperationRecord() = default;
  OperationRecord(const OperationRecord&) = delete;
  OperationRecord& operator=(const OperationRecord&) = delete;

  /// The word by which kernels know the record: 0 until the operation is complete.
  [[nodiscard]] std::uint64_t address() const noexcept { return reinterpret_cast<std::uint64_t>(&state_); }

  [[nodiscard]] OperationState state() const noexcept {
    // Pairs with complete() and fail(): a thread that sees the end sees what was done, or why it was not. Sequentially
    // consistent because it is tested before sleeping.
    return static_cast<OperationState>(state_.load(std::memory_order_seq_cst));
  }

  /// Whether it is complete. Throws why it failed.
  [[nodiscard]] bool test() const {
    const OperationState now = state();
    if (now == OperationState::failed) throw Error(code_, why_);
    return now == OperationState::complete;
  }

  /// For `baton check`: what its end hands over. Before anybody else has the record.
  std::uint64_t token = 0;

  /// The caller rings those that may wait.
  void complete() noexcept { settle(OperationState::complete); }
  void fail(Code code, std::string why) {
    code_ = code;
    why_ = std::move(why);
    settle(OperationState::failed);
  }

 private:
  // Pairs with the load in state(). Sequentially consistent because a doorbell is rung after it.
  void settle(OperationState state) noexcept {
    state_.store(static_cast<std::uint64_t>(state), std::memory_order_seq_cst);
  }

  std::atomic<std::uint64_t> state_{0};
  Code code_ = Code::ok;  // this and the next: written before the state becomes `failed`
  std::string why_;
};

}  // namespace baton::chip
