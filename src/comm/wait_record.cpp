#include "comm/wait_record.hpp"

#include <chrono>

#include <fmt/format.h>

#include "wire/names.hpp"

namespace baton::comm {
namespace {

constexpr int kReadAttempts = 100;

}  // namespace

void write_wait(wire::WaitRecord& record, const WaitDescription& wait) noexcept {
  // Two threads of one rank may come here at once; the loser's wait is not shown.
  std::uint32_t version = record.version.load(std::memory_order_relaxed);
  if (version % 2 != 0 || !record.version.compare_exchange_strong(version, version + 1, std::memory_order_acq_rel)) {
    return;
  }
  // Each store is a release after the odd version, each load in read_wait() an acquire before the second look at it:
  // a reader that saw any of these sees the version change too.
  record.operation.store(static_cast<std::uint32_t>(wait.operation), std::memory_order_release);
  record.since_ns.store(wait.since_ns, std::memory_order_release);
  record.index.store(wait.index, std::memory_order_release);
  record.comparison.store(static_cast<std::int32_t>(wait.comparison), std::memory_order_release);
  record.needs.store(wait.needs, std::memory_order_release);
  wire::store_name(record.object, wait.object);
  // Pairs with the first load of the version in read_wait().
  record.version.store(version + 2, std::memory_order_release);
}

void clear_wait(wire::WaitRecord& record) noexcept {
  record.operation.store(static_cast<std::uint32_t>(wire::Operation::none), std::memory_order_relaxed);
}

std::optional<WaitDescription> read_wait(const wire::WaitRecord& record) {
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    // Pairs with the last store of write_wait().
    const std::uint32_t before = record.version.load(std::memory_order_acquire);
    if (before % 2 != 0) continue;
    WaitDescription wait;
    const std::uint32_t operation = record.operation.load(std::memory_order_acquire);
    wait.since_ns = record.since_ns.load(std::memory_order_acquire);
    wait.index = record.index.load(std::memory_order_acquire);
    const std::int32_t comparison = record.comparison.load(std::memory_order_acquire);
    wait.needs = record.needs.load(std::memory_order_acquire);
    wait.object = wire::load_name(record.object);
    if (record.version.load(std::memory_order_relaxed) != before) continue;
    if (operation == static_cast<std::uint32_t>(wire::Operation::none) ||
        operation > static_cast<std::uint32_t>(wire::kLastOperation) || comparison < 0 ||
        comparison > static_cast<std::int32_t>(WaitCmp::le)) {
      return std::nullopt;
    }
    wait.operation = static_cast<wire::Operation>(operation);
    wait.comparison = static_cast<WaitCmp>(comparison);
    return wait;
  }
  return std::nullopt;
}

std::string describe(const WaitDescription& wait) {
  switch (wait.operation) {
    case wire::Operation::in_barrier: return fmt::format("barrier {} of \"{}\"", wait.index, wait.object);
    case wire::Operation::allocating: return fmt::format("the allocation of \"{}\"", wait.object);
    case wire::Operation::joining: return fmt::format("the other ranks of \"{}\"", wait.object);
    case wire::Operation::waiting:
      return fmt::format("signal {} of \"{}\" {} {}", wait.index, wait.object, symbol_of(wait.comparison), wait.needs);
    case wire::Operation::in_collective:
      if (wait.index == kAllRanks) return fmt::format("all ranks of \"{}\"", wait.object);
      return fmt::format("rank {} of \"{}\"", wait.index, wait.object);
    case wire::Operation::none:
    case wire::Operation::running:
    case wire::Operation::putting:
    case wire::Operation::getting:
    case wire::Operation::notifying:
    case wire::Operation::releasing:
    case wire::Operation::leaving: break;
  }
  return fmt::format("\"{}\"", wait.object);
}

std::int64_t monotonic_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string describe_duration(std::int64_t ns) {
  const double seconds = static_cast<double>(ns) * 1e-9;
  if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  return fmt::format("{:.3g} min", seconds / 60);
}

}  // namespace baton::comm
