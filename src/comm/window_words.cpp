// Words of a window that only grow, by which collectives know how far others are.
#include "comm/window_state.hpp"

#include "base/fail.hpp"
#include "base/fiber.hpp"
#include "base/parking.hpp"
#include "comm/wait_record.hpp"

namespace baton::comm {

std::atomic_ref<std::uint64_t> WindowState::growing_word(const char* what, int owner, std::size_t offset) const {
  std::byte* address = checked(what, owner, offset, sizeof(std::uint64_t));
  if (offset % sizeof(std::uint64_t) != 0) [[unlikely]] {
    fail(Code::misaligned, "{} on \"{}\": a 64-bit word cannot be at byte {}, which is not a multiple of 8", what,
         name_, offset);
  }
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(address));
}

void WindowState::advance(int owner, std::size_t offset, std::uint64_t value) const {
  if (is_checked()) {
    note_change(checked_part(owner), offset, sizeof value, NotifyOp::set, static_cast<std::int64_t>(value), "advance",
                {});
  }
  const auto word = growing_word("advance", owner, offset);
  if (is_far(owner)) {
    path_->put(far_place(owner, 0), nullptr, 0,
               {wire::SignalChange::advance, key_, offset, static_cast<std::int64_t>(value)}, far_deadline());
    return;
  }
  // Releases all that this rank wrote before; pairs with the load in wait_reached(). Sequentially consistent because
  // the doorbell is rung after it.
  word.store(value, std::memory_order_seq_cst);
  domain_->world().ring(domain_->members()[static_cast<std::size_t>(owner)]);
}

void WindowState::put_advance(int peer, std::size_t offset, const void* source, std::size_t count, std::size_t word,
                              std::uint64_t value) const {
  static_cast<void>(checked("put", peer, offset, count));
  if (!is_far(peer) || is_checked() || events::tracing()) {
    put(peer, offset, source, count, {});
    advance(peer, word, value);
    return;
  }
  static_cast<void>(growing_word("advance", peer, word));
  path_->put(far_place(peer, offset), source, count,
             {wire::SignalChange::advance, key_, word, static_cast<std::int64_t>(value)}, far_deadline());
}

std::unique_ptr<Transfer> WindowState::start_put_advance(int peer, std::size_t offset, const void* source,
                                                         std::size_t count, std::size_t word,
                                                         std::uint64_t value) const {
  // What is far, checked and recorded alike.
  if (!is_far(peer) || is_checked() || events::tracing()) {
    put_advance(peer, offset, source, count, word, value);
    return nullptr;
  }
  static_cast<void>(checked("put", peer, offset, count));
  static_cast<void>(growing_word("advance", peer, word));
  return path_->start_put(far_place(peer, offset), source, count,
                          {wire::SignalChange::advance, key_, word, static_cast<std::int64_t>(value)}, far_deadline());
}

WaitDescription WindowState::describe_reaching(int owner, Needed needed) const {
  const std::uint64_t who = needed == Needed::owner ? static_cast<std::uint64_t>(owner) : kAllRanks;
  return {wire::Operation::in_collective, domain_->name(), who, WaitCmp::ge, 0, 0};
}

bool WindowState::reaches_within(int owner, std::size_t offset, std::uint64_t value, Needed needed,
                                 std::chrono::nanoseconds timeout) const {
  if (!reach(owner, offset, value, needed, timeout)) return false;
  if (is_checked()) {
    note_seen(checked_part(owner), offset, sizeof value, WaitCmp::ge, static_cast<std::int64_t>(value), "wait", {});
  }
  return true;
}

bool WindowState::reach(int owner, std::size_t offset, std::uint64_t value, Needed needed,
                        std::chrono::nanoseconds timeout) const {
  const auto word = growing_word("wait_reached", owner, offset);
  if (is_far(owner)) [[unlikely]]
    throw_far("wait_reached", owner);
  const auto reached = [&] {
    // Pairs with the store in advance(); sequentially consistent because it is tested before sleeping.
    return word.load(std::memory_order_seq_cst) >= value;
  };
  if (reached()) return true;
  // While everybody has a processor it is a matter of nanoseconds, of which all that follows would take some.
  if (domain_->world().parking_place().crowding == Crowding::spare) {
    constexpr int kLooks = 64;
    for (int i = 0; i < kLooks; ++i) {
      if (reached()) return true;
    }
  }
  domain_->world().note(wire::Operation::in_collective);
  // The ladder of wait() begins with this rung, too, but every function on the way to a yield is fetched anew when its
  // process gets its next turn. In a trace all waits are to be seen.
  if (domain_->world().parking_place().crowding != Crowding::spare && !on_fiber() && !events::tracing() &&
      yield_until(reached)) {
    return true;
  }
  const WaitsOn waits_on = needed == Needed::owner ? WaitsOn::rung_member : WaitsOn::every_member;
  EventRecord event{.kind = EventKind::reach,
                    .object = domain_->event_text(),
                    .a = needed == Needed::owner ? member(owner) : kAllOwners,
                    .b = offset / sizeof value,
                    .c = value};
  return domain_->wait(
      reached, Deadline::within(timeout), [&] { return describe_reaching(owner, needed); }, waits_on, event,
      static_cast<std::uint32_t>(owner));
}

std::unique_ptr<Landing> WindowState::land(std::size_t offset, std::span<std::byte> target) const {
  static_cast<void>(checked("land", static_cast<int>(domain_->rank()), offset, target.size()));
  return path_ == nullptr ? nullptr : path_->delivery().land(key_, offset, target);
}

bool WindowState::is_told_within(int from, std::size_t offset, std::uint64_t value,
                                 std::chrono::nanoseconds timeout) const {
  const int own = static_cast<int>(domain_->rank());
  const auto word = growing_word("is_told_within", own, offset);
  static_cast<void>(checked("is_told_within", from, 0, 0));
  const auto told = [&] {
    // Pairs with the store in advance(), of this host or in Delivery; sequentially consistent because it is tested
    // before sleeping.
    return word.load(std::memory_order_seq_cst) >= value;
  };
  if (!told()) {
    domain_->world().note(wire::Operation::in_collective);
    const auto is_not_needed = [from](std::uint32_t one) { return static_cast<int>(one) != from; };
    const HasDoneItsPart others_may_leave = is_not_needed;
    EventRecord event{.kind = EventKind::reach,
                      .object = domain_->event_text(),
                      .a = member(from),
                      .b = offset / sizeof value,
                      .c = value};
    if (!domain_->wait(
            told, Deadline::within(timeout), [&] { return describe_reaching(from, Needed::owner); },
            WaitsOn::every_member, event, std::nullopt, &others_may_leave)) {
      return false;
    }
  }
  if (is_checked()) {
    note_seen(checked_part(own), offset, sizeof value, WaitCmp::ge, static_cast<std::int64_t>(value), "wait", {});
  }
  return true;
}

void WindowState::wait_reached(int owner, std::size_t offset, std::uint64_t value, Needed needed,
                               std::chrono::nanoseconds timeout) const {
  if (reaches_within(owner, offset, value, needed, timeout)) return;
  const std::uint64_t has = growing_word("wait_reached", owner, offset).load(std::memory_order_relaxed);
  throw Error(Code::wait_timeout,
              fmt::format("rank {} waited {} for {} (word {} of \"{}\" has {}, needs >= {})", domain_->rank(),
                          describe_duration(timeout.count()), describe(describe_reaching(owner, needed)),
                          offset / sizeof value, name_, has, value),
              DomainState::with_hang_report({domain_->describe_member_activity(static_cast<std::uint32_t>(owner))}));
}

}  // namespace baton::comm
