#include "comm/wait_record.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include <baton/device_list.hpp>
#include <baton/error.hpp>

#include "wire/names.hpp"

namespace baton::comm {
namespace {

constexpr int kReadAttempts = 100;

/// The list may come from anybody.
void read_members(WaitDescription& wait, const std::string& list) {
  try {
    for (const int rank : parse_device_list(list)) wait.members.push_back(static_cast<std::uint32_t>(rank));
    wait.knows_members = true;
  } catch (const Error&) {
    wait.members.clear();
  }
}

}  // namespace

WaitingDomain::WaitingDomain(std::string_view given, const std::vector<int>& ranks)
    : name(given), members(format_device_list(ranks)) {
  if (members.size() > wire::kMembersBytes) members.clear();
}

bool write_wait(wire::WaitRecord& record, const WaitDescription& wait, const WaitingDomain& domain) noexcept {
  // Pairs with the last store below: with the version comes what it says. Two threads of one rank may come here at
  // once; who looks at the operation and finds that nobody waits has this version, or loses the exchange.
  std::uint32_t version = record.version.load(std::memory_order_acquire);
  if (version % 2 != 0 || record.operation.load(std::memory_order_relaxed) != 0 ||
      !record.version.compare_exchange_strong(version, version + 1, std::memory_order_acq_rel)) {
    return false;
  }
  // Each store is a release after the odd version, each load in read_wait() an acquire before the second look at it:
  // a reader that saw any of these sees the version change too.
  record.operation.store(static_cast<std::uint32_t>(wait.operation), std::memory_order_release);
  record.since_ns.store(wait.since_ns, std::memory_order_release);
  record.index.store(wait.index, std::memory_order_release);
  record.comparison.store(static_cast<std::int32_t>(wait.comparison), std::memory_order_release);
  record.needs.store(wait.needs, std::memory_order_release);
  wire::store_name(record.object, wait.object);
  record.traits.store((wait.is_patient ? wire::kWaitIsPatient : 0U) |
                          (wait.names_buffer ? wire::kWaitNamesBuffer : 0U) |
                          (domain.members.empty() ? 0U : wire::kWaitKnowsMembers),
                      std::memory_order_release);
  wire::store_name(record.domain, domain.name);
  wire::store_text(record.actor, wait.actor);
  wire::store_text(record.members, domain.members);
  // Pairs with the first load of the version in read_wait().
  record.version.store(version + 2, std::memory_order_release);
  return true;
}

void WaitEntry::begin(wire::RankBlock& block, const WaitDescription& wait, const WaitingDomain& domain) noexcept {
  for (wire::WaitRecord& record : block.waits) {
    if (!write_wait(record, wait, domain)) continue;
    record_ = &record;
    return;
  }
  counted_in_ = &block;
  impatient_ = wait.is_patient ? 0 : 1;
  block.unlisted_waits.fetch_add(1, std::memory_order_relaxed);
  block.unlisted_impatient.fetch_add(impatient_, std::memory_order_relaxed);
}

void WaitEntry::end() noexcept {
  if (record_ != nullptr) clear_wait(*record_);
  if (counted_in_ != nullptr) {
    counted_in_->unlisted_waits.fetch_sub(1, std::memory_order_relaxed);
    counted_in_->unlisted_impatient.fetch_sub(impatient_, std::memory_order_relaxed);
  }
  record_ = nullptr;
  counted_in_ = nullptr;
}

std::vector<WaitDescription> read_waits(const wire::RankBlock& block) {
  std::vector<WaitDescription> waits;
  for (const wire::WaitRecord& record : block.waits) {
    if (auto wait = read_wait(record)) waits.push_back(*std::move(wait));
  }
  std::ranges::stable_sort(waits, {}, &WaitDescription::since_ns);
  return waits;
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
    const std::uint32_t traits = record.traits.load(std::memory_order_acquire);
    wait.domain = wire::load_name(record.domain);
    wait.actor = wire::load_text(record.actor);
    const std::string members = wire::load_text(record.members);
    if (record.version.load(std::memory_order_relaxed) != before) continue;
    if (operation == static_cast<std::uint32_t>(wire::Operation::none) ||
        operation > static_cast<std::uint32_t>(wire::kLastOperation) || comparison < 0 ||
        comparison > static_cast<std::int32_t>(WaitCmp::le)) {
      return std::nullopt;
    }
    wait.operation = static_cast<wire::Operation>(operation);
    wait.comparison = static_cast<WaitCmp>(comparison);
    wait.is_patient = (traits & wire::kWaitIsPatient) != 0;
    wait.names_buffer = (traits & wire::kWaitNamesBuffer) != 0;
    if ((traits & wire::kWaitKnowsMembers) != 0) read_members(wait, members);
    return wait;
  }
  return std::nullopt;
}

std::string describe_signal(const WaitDescription& wait) {
  return wait.names_buffer ? fmt::format("{}[{}] of domain \"{}\"", wait.object, wait.index, wait.domain)
                           : fmt::format("signal {} of \"{}\"", wait.index, wait.object);
}

std::string describe(const WaitDescription& wait) {
  switch (wait.operation) {
    case wire::Operation::in_barrier: return fmt::format("barrier {} of \"{}\"", wait.index, wait.object);
    case wire::Operation::allocating: return fmt::format("the allocation of \"{}\"", wait.object);
    case wire::Operation::joining: return fmt::format("the other ranks of \"{}\"", wait.object);
    case wire::Operation::waiting:
      return fmt::format("{} {} {}", describe_signal(wait), symbol_of(wait.comparison), wait.needs);
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
