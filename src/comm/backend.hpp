// What a backend does for the communication layer: it brings ranks together, gives those of one host memory in common,
// and has a path to those of other hosts. Everything else (signals, barrier, errors, the handshake of allocations) is
// built on these, once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <baton/error.hpp>

#include "base/deadline.hpp"
#include "base/function_ref.hpp"
#include "base/futex.hpp"
#include "comm/path.hpp"
#include "comm/shared_memory.hpp"
#include "wire/control.hpp"
#include "wire/mail.hpp"

namespace baton::comm {

/// How a rank ends its membership.
enum class Farewell : std::uint8_t { leave, fail };

/// Why it failed, as far as it is known.
struct FailureReason {
  Code code = Code::ok;        // of the error that ended it
  std::string_view text = {};  // "std::runtime_error: no such file"; the first line counts
};

/// One rank's connection to its job. Destroyed after say_farewell().
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  [[nodiscard]] virtual wire::ControlHeader& control() noexcept = 0;
  [[nodiscard]] virtual FutexScope futex_scope() const noexcept = 0;
  /// Of the control segment, for processes that do not take part; -1 where that is memory of this process alone.
  [[nodiscard]] virtual int control_descriptor() const noexcept { return -1; }

  /// Makes zeroed memory of `bytes`, lets `prepare` write to it, then offers it under `key` to the ranks `to`. Called
  /// by one member.
  [[nodiscard]] virtual std::shared_ptr<SharedMemory> offer(wire::AllocationKey key, std::uint64_t bytes,
                                                            std::span<const std::uint32_t> to, Deadline deadline,
                                                            FunctionRef<void(void*)> prepare) = 0;

  /// Takes what another rank offered to this one under `key`; nullptr while nothing came. Never blocks; when something
  /// comes, this rank's doorbell rings.
  [[nodiscard]] virtual std::shared_ptr<SharedMemory> collect(wire::AllocationKey key) = 0;

  /// The path to the ranks of other hosts; null where all ranks are of this one.
  [[nodiscard]] virtual Path* path() noexcept { return nullptr; }

  /// Ends the membership, in the control segment and elsewhere. No rank is waited for.
  /// `reason` is for Farewell::fail.
  virtual void say_farewell(Farewell farewell, const FailureReason& reason) noexcept = 0;
};

}  // namespace baton::comm
