// Atomics, plain variables and futexes of a scenario, and the rules under which production code uses them.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/deadline.hpp"
#include "base/futex.hpp"
#include "engine.hpp"

namespace baton::model {

/// Time does not pass in scenarios. A wait that may give up is one with a spurious wake-up.
inline const Deadline kNever = Deadline::at(Deadline::Clock::time_point::max());

template <class T>
[[nodiscard]] std::uint64_t to_word(T value) noexcept {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  return word;
}

template <class T>
[[nodiscard]] T from_word(std::uint64_t word) noexcept {
  T value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

/// Orders are those that the code names.
struct AsWritten {
  static std::memory_order load(std::memory_order order) noexcept { return order; }
  static std::memory_order store(std::memory_order order) noexcept { return order; }
  static std::memory_order update(std::memory_order order) noexcept { return order; }
};

/// The interface of std::atomic as far as protocols use it. `Orders` replaces the orders that the code names, to show
/// that it breaks without them.
template <class T, class Orders = AsWritten>
class ModelAtomic {
 public:
  ModelAtomic() : ModelAtomic(T{}) {}
  // NOLINTNEXTLINE(google-explicit-constructor): as std::atomic.
  ModelAtomic(T value) : place_(Engine::current().add_location(this, to_word(value))) {}
  ModelAtomic(const ModelAtomic&) = delete;
  ModelAtomic& operator=(const ModelAtomic&) = delete;

  T load(std::memory_order order = std::memory_order_seq_cst) const noexcept {
    return from_word<T>(perform({.kind = Kind::load, .order = Orders::load(order)}).value);
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    perform({.kind = Kind::store, .order = Orders::store(order), .operand = to_word(value)});
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return update("exchange", value, order, [](std::uint64_t, std::uint64_t operand) { return operand; });
  }
  T fetch_add(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return update("fetch_add", value, order, [](std::uint64_t old, std::uint64_t operand) {
      return to_word(static_cast<T>(from_word<T>(old) + from_word<T>(operand)));
    });
  }
  T fetch_sub(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return update("fetch_sub", value, order, [](std::uint64_t old, std::uint64_t operand) {
      return to_word(static_cast<T>(from_word<T>(old) - from_word<T>(operand)));
    });
  }
  T fetch_or(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return update("fetch_or", value, order, [](std::uint64_t old, std::uint64_t operand) { return old | operand; });
  }
  T fetch_and(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return update("fetch_and", value, order, [](std::uint64_t old, std::uint64_t operand) { return old & operand; });
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order failure) noexcept {
    const Result result = perform({.kind = Kind::compare_exchange,
                                   .order = Orders::update(success),
                                   .order_on_failure = Orders::load(failure),
                                   .operand = to_word(desired),
                                   .expected = to_word(expected)});
    expected = from_word<T>(result.value);
    return result.success == Success::yes;
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return compare_exchange_strong(expected, desired, order, order_of_failure(order));
  }
  /// Never fails without a reason.
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure) noexcept {
    return compare_exchange_strong(expected, desired, success, failure);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return compare_exchange_strong(expected, desired, order);
  }

  [[nodiscard]] Place place() const noexcept { return place_; }

 private:
  static std::memory_order order_of_failure(std::memory_order order) noexcept {
    if (order == std::memory_order_acq_rel) return std::memory_order_acquire;
    return order == std::memory_order_release ? std::memory_order_relaxed : order;
  }
  Result perform(Operation operation) const noexcept {
    operation.place = place_;
    return Engine::current().perform(operation);
  }
  T update(const char* verb, T operand, std::memory_order order,
           std::uint64_t (*combine)(std::uint64_t, std::uint64_t)) noexcept {
    return from_word<T>(perform({.kind = Kind::update,
                                 .order = Orders::update(order),
                                 .operand = to_word(operand),
                                 .combine = combine,
                                 .verb = verb})
                            .value);
  }

  Place place_;
};

/// A variable without atomicity: accesses that nothing orders are a race.
template <class T>
class ModelVar {
 public:
  explicit ModelVar(T value = T{}) : place_(Engine::current().add_variable(this, to_word(value))) {}
  ModelVar(const ModelVar&) = delete;
  ModelVar& operator=(const ModelVar&) = delete;

  [[nodiscard]] T read() const noexcept { return from_word<T>(Engine::current().read_variable(place_)); }
  void write(T value) noexcept { Engine::current().write_variable(place_, to_word(value)); }

 private:
  Place place_;
};

/// What production code that is a template over its rules gets here.
template <class Orders>
struct BasicModelRules {
  template <class T>
  using Atomic = ModelAtomic<T, Orders>;
  template <class T>
  static void wait(Atomic<T>& word, T seen, Deadline, FutexScope) noexcept {
    Engine::current().perform({.kind = Kind::futex_wait, .place = word.place(), .expected = to_word(seen)});
  }
  template <class T>
  static void wake_all(Atomic<T>& word, FutexScope) noexcept {
    Engine::current().perform({.kind = Kind::futex_wake, .place = word.place()});
  }
};
using ModelRules = BasicModelRules<AsWritten>;

/// Sequentially consistent operations are only acquire and release.
struct WithoutSeqCst {
  static std::memory_order load(std::memory_order order) noexcept {
    return order == std::memory_order_seq_cst ? std::memory_order_acquire : order;
  }
  static std::memory_order store(std::memory_order order) noexcept {
    return order == std::memory_order_seq_cst ? std::memory_order_release : order;
  }
  static std::memory_order update(std::memory_order order) noexcept {
    return order == std::memory_order_seq_cst ? std::memory_order_acq_rel : order;
  }
};

struct Relaxed {
  static std::memory_order load(std::memory_order) noexcept { return std::memory_order_relaxed; }
  static std::memory_order store(std::memory_order) noexcept { return std::memory_order_relaxed; }
  static std::memory_order update(std::memory_order) noexcept { return std::memory_order_relaxed; }
};

/// `Weak` for one thread, as written for the others.
template <Thread thread, class Weak>
struct OnlyIn {
  static std::memory_order load(std::memory_order order) noexcept {
    return current_thread() == thread ? Weak::load(order) : order;
  }
  static std::memory_order store(std::memory_order order) noexcept {
    return current_thread() == thread ? Weak::store(order) : order;
  }
  static std::memory_order update(std::memory_order order) noexcept {
    return current_thread() == thread ? Weak::update(order) : order;
  }
};

}  // namespace baton::model
