#include "comm/window_state.hpp"

#include <cstring>
#include <ctime>

#include "base/fail.hpp"
#include "base/fiber.hpp"
#include "base/log.hpp"
#include "base/parking.hpp"
#include "comm/address_book.hpp"
#include "comm/allocation.hpp"
#include "comm/context_table.hpp"
#include "comm/wait_record.hpp"

namespace baton::comm {
namespace {

/// A clock that is cheap enough for every notify; it advances every few milliseconds.
std::int64_t coarse_monotonic_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::uint64_t tag_of(wire::AllocationKey key) noexcept {
  return hash_words(key.domain, {static_cast<std::uint32_t>(key.sequence)});
}

wire::SignalChange change_of(NotifyOp op) noexcept {
  return op == NotifyOp::add ? wire::SignalChange::add : wire::SignalChange::set;
}

}  // namespace

WindowState::WindowState(std::shared_ptr<DomainState> domain, std::string name, std::uint64_t bytes)
    : domain_(std::move(domain)), name_(std::move(name)), event_text_(events::text(name_)), bytes_(bytes) {
  if (domain_->groups().spans_hosts()) path_ = domain_->world().path();
  const auto use = [this](const std::shared_ptr<SharedMemory>& segment, wire::AllocationKey key) {
    const auto& header = *static_cast<wire::SegmentHeader*>(segment->address());
    key_ = key;
    tag_ = tag_of(key);
    first_part_ = static_cast<std::byte*>(segment->address()) + header.first_part;
    stride_ = header.part_stride;
    if (path_ == nullptr) return;
    path_->delivery().expose(key_, {segment, first_part_ + domain_->rank() * stride_, header.part_bytes, tag_});
  };
  try {
    segment_ = allocate_segment(*domain_, name_, bytes, use);
  } catch (...) {
    if (path_ != nullptr) path_->delivery().withdraw(key_);
    throw;
  }
  std::vector<std::uint64_t> windows(domain_->size());
  for (std::size_t r = 0; r < windows.size(); ++r)
    windows[r] = reinterpret_cast<std::uint64_t>(first_part_ + r * stride_);
  context_ = make_context(domain_->rank(), bytes_, windows);
  domain_->world().control().window_bytes.fetch_add(stride_, std::memory_order_relaxed);
  enter_window(this, first_part_, stride_, domain_->size());
  log::info("rank {} of \"{}\" has the window \"{}\": {} bytes on each of {} ranks", domain_->rank(), domain_->name(),
            name_, bytes_, domain_->size());
}

WindowState::~WindowState() { sign_off(); }

void WindowState::sign_off() noexcept {
  if (!segment_) return;
  if (path_ != nullptr) path_->delivery().withdraw(key_);
  remove_window(this, first_part_);
  domain_->world().control().window_bytes.fetch_sub(stride_, std::memory_order_relaxed);
}

void WindowState::release() noexcept {
  sign_off();
  const std::shared_ptr<SharedMemory> segment = std::move(segment_);
  // Ranks of one process share the mapping: the last to release it finds nobody else who has it.
  if (!segment || segment.use_count() != 1) return;
  segment->revoke();
  remains_ = segment;
}

const CommContext* WindowState::context() const {
  static_cast<void>(checked("context", 0, 0, 0));
  return reinterpret_cast<const CommContext*>(context_.data());
}

void WindowState::throw_released(const char* what) const {
  fail(Code::released, "{} on the window \"{}\" after it was released", what, name_);
}

std::byte* WindowState::checked(const char* what, int rank, std::size_t offset, std::size_t count) const {
  if (!segment_) [[unlikely]]
    throw_released(what);
  if (rank < 0 || static_cast<std::uint32_t>(rank) >= domain_->size()) [[unlikely]] {
    fail(Situation::no_such_rank, "{} on \"{}\": rank {} is outside 0..{} of \"{}\"", what, name_, rank,
         domain_->size() - 1, domain_->name());
  }
  if (count > bytes_ || offset > bytes_ - count) [[unlikely]] {
    fail(Situation::outside_window, "{} on \"{}\": {} bytes from byte {} of rank {} are outside the window of {} bytes",
         what, name_, count, offset, rank, bytes_);
  }
  return first_part_ + static_cast<std::size_t>(rank) * stride_ + offset;
}

std::atomic_ref<std::int32_t> WindowState::signal(const char* what, int rank, std::size_t offset) const {
  std::byte* address = checked(what, rank, offset, sizeof(std::int32_t));
  if (offset % sizeof(std::int32_t) != 0) [[unlikely]] {
    fail(Code::misaligned, "{} on \"{}\": a signal cannot be at byte {}, which is not a multiple of 4", what, name_,
         offset);
  }
  return std::atomic_ref(*reinterpret_cast<std::int32_t*>(address));
}

void WindowState::throw_far(const char* what, int rank) const {
  fail(Situation::other_host, "{} on \"{}\": the part of {} is on another host, where no pointer reaches", what, name_,
       domain_->describe_member(static_cast<std::uint32_t>(rank)));
}

std::byte* WindowState::part(int rank) const {
  std::byte* const part = checked("access", rank, 0, 0);
  if (is_far(rank)) [[unlikely]]
    throw_far("access", rank);
  return part;
}

bool WindowState::is_mapped(int rank) const {
  static_cast<void>(checked("access", rank, 0, 0));
  return !is_far(rank);
}

bool WindowState::is_local(const void* address, std::size_t count) const {
  if (!segment_) [[unlikely]]
    throw_released("access");
  const std::byte* own = first_part_ + domain_->rank() * stride_;
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(own);
  return offset <= bytes_ && count <= bytes_ - offset;
}

void WindowState::put(int peer, std::size_t offset, const void* source, std::size_t count, const Place& where) const {
  std::byte* to = checked("put", peer, offset, count);
  domain_->world().note(wire::Operation::putting);
  if (is_checked()) {
    note_touch(domain_->world(), source, count, CheckedUse::read, "put", where);
    note_touch(checked_part(peer), offset, count, CheckedUse::write, "put", {.where = where});
  }
  const std::uint64_t began = events::tracing() ? ticks() : 0;
  if (is_far(peer)) {
    path_->put(far_place(peer, offset), source, count, {}, far_deadline());
  } else if (count != 0) {
    std::memmove(to, source, count);
  }
  if (began != 0) record_copy(EventKind::put, began, peer, offset, count);
}

void WindowState::get(int peer, std::size_t offset, void* target, std::size_t count, const Place& where) const {
  const std::byte* from = checked("get", peer, offset, count);
  domain_->world().note(wire::Operation::getting);
  if (is_checked()) {
    note_touch(checked_part(peer), offset, count, CheckedUse::read, "get", {.where = where});
    note_touch(domain_->world(), target, count, CheckedUse::write, "get", where);
  }
  const std::uint64_t began = events::tracing() ? ticks() : 0;
  if (is_far(peer)) {
    path_->get(far_place(peer, offset), target, count, far_deadline());
  } else if (count != 0) {
    std::memmove(target, from, count);
  }
  if (began != 0) record_copy(EventKind::get, began, peer, offset, count);
}

void WindowState::send(int peer, std::size_t offset, const void* source, std::size_t count) const {
  static_cast<void>(checked("put", peer, offset, count));
  path_->put(far_place(peer, offset), source, count, {}, far_deadline());
}

void WindowState::send_sum(int peer, std::size_t offset, Element element, const void* addends,
                           std::size_t count) const {
  static_cast<void>(checked("add", peer, offset, count));
  path_->add(far_place(peer, offset), element, addends, count, far_deadline());
}

void WindowState::fetch(int peer, std::size_t offset, void* target, std::size_t count) const {
  static_cast<void>(checked("get", peer, offset, count));
  path_->get(far_place(peer, offset), target, count, far_deadline());
}

void WindowState::record_copy(EventKind kind, std::uint64_t began, int peer, std::size_t offset,
                              std::size_t count) const noexcept {
  EventRecord event = domain_->world().event_since(kind, began);
  event.object = event_text_;
  event.a = member(peer);
  event.b = offset;
  event.c = count;
  events::record(event);
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
  signals.note_notify(peer, signal_offset);
  path_->put(far_place(peer, offset), source, count, {change_of(op), signals.key_, signal_offset, value},
             far_deadline());
  signals.record_notify(0, peer, signal_offset, value, value, {where});
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
  note_notify(peer, offset);
  // In a trace the time is that before the change, so that it precedes the end of the wait it ends.
  const std::uint64_t began = events::tracing() ? ticks() : 0;
  if (is_checked()) note_change(checked_part(peer), offset, sizeof value, op, value, "notify", from);
  const std::int32_t after = change_signal(target, peer, offset, value, op);
  // After it, when others go on already.
  record_notify(began, peer, offset, value, after, from);
}

void WindowState::record_notify(std::uint64_t began, int peer, std::size_t offset, std::int32_t value,
                                std::int32_t after, const EventSource& from) const {
  if (!events::wants(EventKind::notify)) return;
  EventRecord event = domain_->world().event_since(EventKind::notify, began);
  if (began == 0) event.begin = event.end;
  event.lane = from.lane;
  event.object = event_text_;
  event.place = events::text_of(from.where);
  event.a = member(peer);
  event.b = offset / sizeof(std::int32_t);
  event.c = static_cast<std::uint32_t>(after);
  event.d = static_cast<std::uint32_t>(value);
  events::record(event);
}

void WindowState::throw_if_hopeless(int owner, std::size_t offset, WaitCmp comparison, std::int32_t value) const {
  const auto own = signal("wait", owner, offset);
  // Pairs with the change in notify().
  domain_->throw_if_hopeless([&] { return holds(own.load(std::memory_order_seq_cst), comparison, value); },
                             [&] { return describe_wait(offset, comparison, value); }, WaitsOn::any_member,
                             std::nullopt, 0);
}

void WindowState::note_notify(int peer, std::size_t offset) const noexcept {
  World& world = domain_->world();
  world.note(wire::Operation::notifying);
  wire::NotifyRecord& record = world.block(world.rank()).last_notify;
  record.window.store(tag_, std::memory_order_relaxed);
  record.target.store(domain_->members()[static_cast<std::size_t>(peer)], std::memory_order_relaxed);
  record.index.store(static_cast<std::uint32_t>(offset / sizeof(std::int32_t)), std::memory_order_relaxed);
  record.when_ns.store(coarse_monotonic_ns(), std::memory_order_relaxed);
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
  event.kind = EventKind::wait;
  event.lane = from.lane;
  event.object = event_text_;
  event.place = events::text_of(from.where);
  event.a = member(owner);
  event.b = offset / sizeof(std::int32_t);
  // The comparison above the value.
  event.c = static_cast<std::uint32_t>(value) | static_cast<std::uint64_t>(comparison) << 32U;
  if (domain_->wait(
          satisfied, Deadline::within(timeout), [&] { return describe_wait(offset, comparison, value); },
          WaitsOn::any_member, event, static_cast<std::uint32_t>(owner))) {
    return note_waited(owner, offset, comparison, value, from);
  }
  throw_wait_timeout(owner, offset, comparison, value, has, timeout);
}

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

std::string WindowState::activity_of(int rank) const {
  static_cast<void>(checked("activity_of", rank, 0, 0));
  return domain_->describe_member_activity(static_cast<std::uint32_t>(rank));
}

void WindowState::throw_wait_timeout(int owner, std::size_t offset, WaitCmp comparison, std::int32_t value,
                                     std::int32_t has, std::chrono::nanoseconds waited) const {
  constexpr std::uint32_t kMostNotes = 8;
  World& world = domain_->world();
  const std::uint64_t index = offset / sizeof(std::int32_t);
  std::vector<std::string> notes;
  std::string last_writer = "no notify of it on record";
  std::int64_t last_ns = INT64_MIN;
  for (std::uint32_t member = 0; member < domain_->size(); ++member) {
    const wire::NotifyRecord& record = world.block(domain_->members()[member]).last_notify;
    const std::int64_t when = record.when_ns.load(std::memory_order_relaxed);
    if (record.window.load(std::memory_order_relaxed) == tag_ &&
        record.target.load(std::memory_order_relaxed) == domain_->members()[static_cast<std::size_t>(owner)] &&
        record.index.load(std::memory_order_relaxed) == index && when > last_ns) {
      last_ns = when;
      last_writer = fmt::format("last notified by rank {}, {} ago", member, describe_duration(monotonic_ns() - when));
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
