// Signals of a window: notify, test, wait.
#include "comm/window_state.hpp"

#include "base/fail.hpp"
#include "base/ticks.hpp"
#include "comm/wait_record.hpp"

namespace baton::comm {
namespace {

wire::SignalChange change_of(NotifyOp op) noexcept {
  return op == NotifyOp::add ? wire::SignalChange::add : wire::SignalChange::set;
}

}  // namespace

std::atomic_ref<std::int32_t> WindowState::signal(const char* what, int rank, std::size_t offset) const {
  std::byte* address = checked(what, rank, offset, sizeof(std::int32_t));
  if (offset % sizeof(std::int32_t) != 0) [[unlikely]] {
    fail(Code::misaligned, "{} on \"{}\": a signal cannot be at byte {}, which is not a multiple of 4", what, name_,
         offset);
  }
  return std::atomic_ref(*reinterpret_cast<std::int32_t*>(address));
}

void WindowState::put_signal(int peer, std::size_t offset, const void* source, std::size_t count,
                             const WindowState& signals, std::size_t signal_offset, std::int32_t value, NotifyOp op,
                             const Place& where) const {
  const bool in_one = path_ != nullptr && !is_checked() && !events::tracing();
  if (in_one) static_cast<void>(checked("put", peer, offset, count));
  if (!in_one || !is_far(peer)) {
    put(peer, offset, source, count, where);
    signals.notify(peer, signal_offset, value, op, {where});
    return;
  }
  static_cast<void>(signals.signal("notify", peer, signal_offset));
  domain_->world().note(wire::Operation::notifying);
  // In a trace the time is that before the change, as in notify().
  const std::uint64_t began = events::tracing() ? ticks() : 0;
  path_->put(far_place(peer, offset), source, count, {change_of(op), signals.key_, signal_offset, value},
             far_deadline());
  signals.record_notify(began, peer, signal_offset, value, value, {where});
}

std::int32_t WindowState::change_signal(std::atomic_ref<std::int32_t> target, int peer, std::size_t offset,
                                        std::int32_t value, NotifyOp op) const {
  if (is_far(peer)) {
    path_->put(far_place(peer, 0), nullptr, 0, {change_of(op), key_, offset, value}, far_deadline());
    return value;
  }
  std::int32_t after = value;
  // Releases all that this rank wrote before; pairs with the loads in wait() and test(). Sequentially consistent
  // because the doorbell is rung after it.
  if (op == NotifyOp::add) {
    // Signals wrap round, which for signed numbers only the atomic's addition may do.
    const auto before = static_cast<std::uint32_t>(target.fetch_add(value, std::memory_order_seq_cst));
    after = static_cast<std::int32_t>(before + static_cast<std::uint32_t>(value));
  } else {
    target.store(value, std::memory_order_seq_cst);
  }
  domain_->world().block(member(peer)).arrivals.mark(arrival_spot(offset));
  domain_->world().ring(member(peer));
  return after;
}

void WindowState::notify(int peer, std::size_t offset, std::int32_t value, NotifyOp op, const EventSource& from) const {
  const std::atomic_ref<std::int32_t> target = signal("notify", peer, offset);
  domain_->world().note(wire::Operation::notifying);
  // In a trace the time is that before the change, so that it precedes the end of the wait it ends.
  const std::uint64_t began = events::tracing() ? ticks() : 0;
  if (is_checked()) note_change(checked_part(peer), offset, sizeof value, op, value, "notify", from);
  const std::int32_t after = change_signal(target, peer, offset, value, op);
  // After it, when others go on already.
  record_notify(began, peer, offset, value, after, from);
}

void WindowState::record_notify(std::uint64_t began, int peer, std::size_t offset, std::int32_t value,
                                std::int32_t after, const EventSource& from) const {
  // One clock for both: a look at it may take as long as all the rest.
  const std::uint64_t now = ticks();
  World& world = domain_->world();
  const std::uint32_t target = member(peer);
  const std::size_t index = offset / sizeof(std::int32_t);
  wire::NotifyRecord& record = world.block(world.rank()).last_notify;
  record.window.store(tag_, std::memory_order_relaxed);
  record.target.store(target, std::memory_order_relaxed);
  record.index.store(static_cast<std::uint32_t>(index), std::memory_order_relaxed);
  record.when.store(now, std::memory_order_relaxed);
  if (!events::wants(EventKind::notify)) return;
  const events::NotifyKey key{from.where.file, from.where.line, event_text_, index,
                              target,          world.rank(),    value,       from.lane};
  if (events::notified_again(key, now, static_cast<std::uint32_t>(after))) return;
  events::record({.begin = began != 0 ? began : now,
                  .end = now,
                  .kind = EventKind::notify,
                  .lane = from.lane,
                  .rank = world.rank(),
                  .object = event_text_,
                  .place = events::text_of(from.where),
                  .a = target,
                  .b = index,
                  .c = static_cast<std::uint32_t>(after),
                  .d = static_cast<std::uint32_t>(value)});
}

void WindowState::throw_if_hopeless(int owner, std::size_t offset, WaitCmp comparison, std::int32_t value) const {
  const auto own = signal("wait", owner, offset);
  // Pairs with the change in notify().
  domain_->throw_if_hopeless([&] { return holds(own.load(std::memory_order_seq_cst), comparison, value); },
                             [&] { return describe_wait(offset, comparison, value); }, WaitsOn::any_member,
                             std::nullopt, 0);
}

bool WindowState::test(int owner, std::size_t offset, WaitCmp comparison, std::int32_t value,
                       const EventSource& from) const {
  const auto own = signal("test", owner, offset);
  if (is_far(owner)) [[unlikely]]
    throw_far("test", owner);
  if (path_ != nullptr) path_->progress();
  // Pairs with the change in notify().
  const bool held = holds(own.load(std::memory_order_acquire), comparison, value);
  if (held) note_waited(owner, offset, comparison, value, from);
  return held;
}

EventRecord WindowState::wait_event(EventKind kind, int owner, std::size_t offset, WaitCmp comparison,
                                    std::int32_t value, const EventSource& from) const {
  return {.kind = kind,
          .lane = from.lane,
          .object = event_text_,
          .place = events::text_of(from.where),
          .a = member(owner),
          .b = offset / sizeof(std::int32_t),
          // The comparison above the value.
          .c = static_cast<std::uint32_t>(value) | static_cast<std::uint64_t>(comparison) << 32U};
}

void WindowState::record_deferral(std::uint64_t began, int owner, std::size_t offset, std::int32_t value,
                                  const Place& where) const {
  if (!events::wants(EventKind::deferral)) return;
  EventRecord event = wait_event(EventKind::deferral, owner, offset, WaitCmp::ge, value, {where});
  event.begin = began;
  event.end = ticks();
  event.rank = domain_->world().rank();
  events::record(event);
}

void WindowState::wait(int owner, std::size_t offset, WaitCmp comparison, std::int32_t value,
                       std::chrono::nanoseconds timeout, const EventSource& from) const {
  const auto own = signal("wait", owner, offset);
  if (is_far(owner)) [[unlikely]]
    throw_far("wait", owner);
  domain_->world().note(wire::Operation::waiting);
  std::int32_t has = 0;
  EventRecord event;
  const auto satisfied = [&] {
    // Pairs with the change in notify(); sequentially consistent because it is tested before sleeping.
    has = own.load(std::memory_order_seq_cst);
    event.d = static_cast<std::uint32_t>(has);
    return holds(has, comparison, value);
  };
  if (satisfied()) return note_waited(owner, offset, comparison, value, from);
  event = wait_event(EventKind::wait, owner, offset, comparison, value, from);
  if (domain_->wait(
          satisfied, Deadline::within(timeout), [&] { return describe_wait(offset, comparison, value); },
          WaitsOn::any_member, event, static_cast<std::uint32_t>(owner))) {
    return note_waited(owner, offset, comparison, value, from);
  }
  throw_wait_timeout(owner, offset, comparison, value, has, timeout);
}

WaitDescription WindowState::describe_wait(std::size_t offset, WaitCmp comparison, std::int32_t value) const {
  WaitDescription wait{wire::Operation::waiting, name_, offset / sizeof(std::int32_t), comparison, value, 0};
  wait.domain = domain_->name();
  for (const NamedBuffer& buffer : buffers_) {
    if (offset < buffer.offset || offset - buffer.offset >= buffer.bytes) continue;
    wait.object = buffer.name;
    wait.index = (offset - buffer.offset) / sizeof(std::int32_t);
    wait.names_buffer = true;
  }
  return wait;
}

void WindowState::throw_wait_timeout(int owner, std::size_t offset, WaitCmp comparison, std::int32_t value,
                                     std::int32_t has, std::chrono::nanoseconds waited) const {
  constexpr std::uint32_t kMostNotes = 8;
  World& world = domain_->world();
  const std::uint64_t index = offset / sizeof(std::int32_t);
  std::vector<std::string> notes;
  std::string last_writer = "no notify of it on record";
  const TickScale scale = scale_since_start();
  std::uint64_t last = 0;
  for (std::uint32_t member = 0; member < domain_->size(); ++member) {
    const wire::NotifyRecord& record = world.block(domain_->members()[member]).last_notify;
    const std::uint64_t when = record.when.load(std::memory_order_relaxed);
    if (record.window.load(std::memory_order_relaxed) == tag_ &&
        record.target.load(std::memory_order_relaxed) == domain_->members()[static_cast<std::size_t>(owner)] &&
        record.index.load(std::memory_order_relaxed) == index && when > last) {
      last = when;
      const std::int64_t age = std::max<std::int64_t>(monotonic_ns() - scale.nanoseconds(when), 0);
      last_writer = fmt::format("last notified by rank {}, {} ago", member, describe_duration(age));
    }
    if (member != domain_->rank() && notes.size() < kMostNotes)
      notes.push_back(domain_->describe_member_activity(member));
  }
  if (domain_->size() > kMostNotes + 1) {
    notes.push_back(fmt::format("and {} more ranks", domain_->size() - 1 - kMostNotes));
  }
  throw Error(Code::wait_timeout,
              fmt::format("rank {} waited {} for {} (has {}, needs {} {}; {})", domain_->rank(),
                          describe_duration(waited.count()), describe_signal(describe_wait(offset, comparison, value)),
                          has, symbol_of(comparison), value, last_writer),
              DomainState::with_hang_report(std::move(notes)));
}

}  // namespace baton::comm
