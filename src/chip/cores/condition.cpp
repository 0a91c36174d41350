#include "chip/cores/condition.hpp"

#include <fmt/format.h>

namespace baton::chip {
namespace {

/// Pairs with the change in a notify, and with whatever else releases the word. Sequentially consistent because it may
/// be tested before sleeping.
template <typename Word>
std::uint64_t load(const void* address) {
  return std::atomic_ref(*static_cast<Word*>(const_cast<void*>(address))).load(std::memory_order_seq_cst);
}

std::uint64_t value_of(const Condition& condition) {
  return condition.kind == ConditionKind::counter ? load<std::uint32_t>(condition.address)
                                                  : load<std::uint64_t>(condition.address);
}

}  // namespace

bool test(const Condition& condition) {
  if (condition.operation != nullptr) return condition.operation->test();
  return value_of(condition) >= condition.expected;
}

std::string describe(const Condition& condition) {
  if (condition.operation != nullptr) return "an asynchronous copy";
  return fmt::format("{} >= {} (has {})", condition.kind == ConditionKind::counter ? "counter" : "event",
                     condition.expected, value_of(condition));
}

}  // namespace baton::chip
