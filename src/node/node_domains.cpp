// Domains over chips, and what else chips do beside tasks.
#include <algorithm>
#include <cstring>

#include "base/fail.hpp"
#include "node/window_layout.hpp"
#include "node/worker_state.hpp"

namespace baton::node {
namespace {

/// The addresses of a window, MemorySpace::window, begin at a multiple of this.
constexpr std::uint64_t kWindowSpacing = 1U << 20U;

/// The buffers in the window of one member.
std::vector<DomainMember::Placed> buffers_of(const DomainRecord& domain, std::size_t rank, const WindowLayout& layout,
                                             std::span<const CommBufferSpec> specs) {
  std::vector<DomainMember::Placed> buffers;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const WindowLayout::Placed& placed = layout.buffers[i];
    const Buffer memory{.address = domain.windows[rank] + placed.offset,
                        .bytes = placed.bytes,
                        .space = MemorySpace::window,
                        .id = kDomainBuffer | domain.id << kDomainRankBits | rank};
    buffers.push_back({specs[i].name, Tensor(memory, specs[i].dtype, {static_cast<std::int64_t>(placed.count)}),
                       domain.members[rank].local_window_base + placed.offset, placed.offset});
  }
  return buffers;
}

}  // namespace

void WorkerState::begin_request(MessageKind kind) {
  control_message_.begin(kind);
  control_message_.put(++last_request_);
}

std::string WorkerState::name_of(int chip) const {
  return fmt::format("chip {} ({})", chip, chips_->process(static_cast<std::size_t>(chip)));
}

/// An answer that comes later is told from that to a later request by its number. But the chip may still be at work on
/// what it was asked, with the windows and the memory of later requests, so nothing more is asked of it.
void WorkerState::fail_silent(int chip) {
  ChipLink& from = link(chip);
  const bool first = !from.silent();
  from.given_up = last_request_;
  needs_restart_ = true;
  const bool stopped = chips_->is_stopped(static_cast<std::size_t>(chip));
  throw error_in(Situation::silent_chip,
                 first ? fmt::format("{} has not answered for {:.3g} s", name_of(chip),
                                     std::chrono::duration<double>(2 * timeout_).count())
                       : fmt::format("{} has not answered an earlier request", name_of(chip)),
                 {stopped ? "its process is stopped" : "its thread may be busy with a kernel that waits for nothing",
                  "the next run starts the chips again: buffers stay, domains are gone"});
}

void WorkerState::check_answers(int chip) {
  if (!link(chip).death.empty()) fail(Code::rank_failed, "{} died: {}", name_of(chip), link(chip).death);
  if (link(chip).silent()) fail_silent(chip);
}

void WorkerState::send_control(int chip, std::span<const std::byte> message) {
  // What was asked before has been answered, so the ring is empty.
  if (message.size() > mailbox_sizes().control) {
    fail(Code::invalid_argument, "a control message of {} bytes is longer than the mailbox of a chip, {} bytes",
         message.size(), mailbox_sizes().control);
  }
  static_cast<void>(link(chip).control.write(message));
  chips_->ring(static_cast<std::size_t>(chip));
}

MessageReader WorkerState::await_reply(int chip, Lock& lock) {
  ChipLink& from = link(chip);
  std::optional<std::span<const std::byte>> record;
  const bool came = wait_locked(lock, Deadline::after(2 * timeout_), Replies::count, [&] {
    if (take_replies(from)) {
      forget_complete();
      tell_waiters();
    }
    record = from.reply;
    return record.has_value() || !from.death.empty();
  });
  if (!came) fail_silent(chip);
  if (!record) fail(Code::rank_failed, "{} died: {}", name_of(chip), from.death);
  MessageReader reply(*record);
  static_cast<void>(reply.get<std::uint64_t>());
  return reply;
}

void WorkerState::release_reply(int chip) noexcept {
  ChipLink& from = link(chip);
  from.replies.release();
  from.reply.reset();
  // Pairs with the load in news(): either a waiter sees what comes behind the reply, or take_replies() does.
  from.has_reply.store(false, std::memory_order_seq_cst);
  if (!take_replies(from)) return;
  forget_complete();
  tell_waiters();
}

std::shared_ptr<DomainRecord> WorkerState::allocate_domain(std::string_view name, std::span<const int> chips,
                                                           std::size_t window_bytes,
                                                           std::span<const CommBufferSpec> buffers) {
  check_members(name, chips);
  const WindowLayout layout = lay_out(name, buffers, window_bytes);
  const std::lock_guard control(control_mutex_);
  Lock lock(mutex_);
  if (closed_) fail(Code::released, "the worker was closed");
  for (const int chip : chips) check_answers(chip);
  std::shared_ptr<DomainRecord> domain = new_domain(name, chips, layout.bytes);
  ask_for_windows(*domain, layout, buffers);
  const std::exception_ptr failure = await_windows(*domain, lock);
  domains_.emplace(domain->id, domain);
  if (failure) {
    lock.unlock();
    release_domain(*domain);
    std::rethrow_exception(failure);
  }
  for (std::size_t rank = 0; rank < chips.size(); ++rank) {
    domain->members[rank].buffers = buffers_of(*domain, rank, layout, buffers);
  }
  return domain;
}

void WorkerState::check_members(std::string_view domain, std::span<const int> chips) const {
  if (chips.empty()) fail(Code::invalid_argument, "domain \"{}\" has no members", domain);
  for (const int chip : chips) {
    check_chip("allocate_domain", chip);
    if (std::count(chips.begin(), chips.end(), chip) > 1) {
      fail(Code::invalid_argument, "domain \"{}\": chip {} is named twice", domain, chip);
    }
  }
}

/// A domain whose members have not been asked yet.
std::shared_ptr<DomainRecord> WorkerState::new_domain(std::string_view name, std::span<const int> chips,
                                                      std::uint64_t bytes) {
  auto domain = std::make_shared<DomainRecord>();
  domain->id = ++last_domain_;
  domain->generation = generation_;
  domain->name = name;
  domain->bytes = bytes;
  domain->chips.assign(chips.begin(), chips.end());
  for (std::size_t rank = 0; rank < chips.size(); ++rank) {
    domain->windows.push_back(next_window_);
    next_window_ += (bytes + kWindowSpacing) / kWindowSpacing * kWindowSpacing;
    domain->members.push_back({.chip = chips[rank],
                               .domain_rank = static_cast<int>(rank),
                               .domain_size = static_cast<int>(chips.size()),
                               .device_ctx = 0,
                               .local_window_base = 0,
                               .actual_window_size = 0,
                               .buffers = {}});
  }
  return domain;
}

/// All at once: opening windows is collective.
void WorkerState::ask_for_windows(const DomainRecord& domain, const WindowLayout& layout,
                                  std::span<const CommBufferSpec> buffers) {
  begin_request(MessageKind::open_domain);
  control_message_.put(domain.id);
  control_message_.put_text(domain.name);
  control_message_.put(domain.bytes);
  control_message_.put(static_cast<std::uint32_t>(domain.chips.size()));
  for (const int chip : domain.chips) control_message_.put(static_cast<std::int32_t>(chip));
  // For what the chips say of their waits.
  control_message_.put(static_cast<std::uint32_t>(buffers.size()));
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    control_message_.put_text(buffers[i].name);
    control_message_.put(layout.buffers[i].offset);
    control_message_.put(layout.buffers[i].bytes);
  }
  const auto message = control_message_.finish();
  for (const int chip : domain.chips) send_control(chip, message);
}

/// Notes where the members have their windows. Every answer is taken, also after a failure. Returns what failed first;
/// a chip that died or is silent before all, since what the others say follows from it.
std::exception_ptr WorkerState::await_windows(DomainRecord& domain, Lock& lock) {
  std::exception_ptr refused;
  std::exception_ptr gone;
  for (DomainMember& member : domain.members) {
    try {
      MessageReader reply = await_reply(member.chip, lock);
      if (reply.kind() == MessageKind::done) {
        member.device_ctx = reply.get<std::uint64_t>();
        member.local_window_base = reply.get<std::uint64_t>();
        member.actual_window_size = reply.get<std::uint64_t>();
      } else if (!refused) {
        const Failure told = get_failure(reply);
        refused = std::make_exception_ptr(Error(told.code, told.message, told.notes, told.remedy));
      }
      release_reply(member.chip);
    } catch (...) {
      if (!gone) gone = std::current_exception();
    }
  }
  return gone ? gone : refused;
}

void WorkerState::release_domain(DomainRecord& domain) noexcept {
  const Lock lock(mutex_);
  if (domain.released.exchange(true, std::memory_order_relaxed)) return;
  domains_.erase(domain.id);
  if (!chips_ || closed_ || domain.generation != generation_) return;
  MessageWriter message;
  for (const int chip : domain.chips) {
    if (!link(chip).death.empty()) continue;
    message.begin(MessageKind::release_domain);
    message.put(domain.id);
    // In the order of submission: tasks before it may use the windows.
    Unit& release = add_unit(nullptr, chip, kNoCallable, Place{});
    release.domain = domain.id;
    wait_for_watchers(release);
    enqueue(release, message.finish());
  }
  settle();
}

bool WorkerState::usable(const DomainRecord& domain) {
  const Lock lock(mutex_);
  return !domain.released.load(std::memory_order_relaxed) && !closed_ && domain.generation == generation_;
}

/// In chunks through the staging memory of the chip: while it copies one, this thread copies the next.
void WorkerState::copy_window(const Tensor& tensor, std::byte* to, const std::byte* from, std::size_t bytes) {
  const std::lock_guard control(control_mutex_);
  Lock lock(mutex_);
  std::size_t rank = 0;
  const auto domain = domain_of(tensor, rank);
  const int chip = domain->chips[rank];
  check_answers(chip);
  const std::uint64_t begin = tensor.address() - domain->windows[rank];
  const std::span<std::byte> staging = link(chip).staging;
  const std::size_t half = staging.size() / 2;
  const std::size_t chunks = (bytes + half - 1) / half;
  const auto size_of_chunk = [&](std::size_t chunk) { return std::min(half, bytes - chunk * half); };
  const auto place_of_chunk = [&](std::size_t chunk) { return staging.data() + (chunk % 2) * half; };
  const auto copy_of_chunk = [id = checked_.id, first = copies_](std::size_t chunk) {
    return token_of(id, TokenKind::copy, first + chunk);
  };
  copies_ += chunks;
  const auto start = [&](std::size_t chunk) {
    lock.unlock();
    if (from != nullptr) std::memcpy(place_of_chunk(chunk), from + chunk * half, size_of_chunk(chunk));
    lock.lock();
    if (from != nullptr) {
      chips_->share_staging(static_cast<std::size_t>(chip), (chunk % 2) * half, size_of_chunk(chunk));
    }
    begin_request(from != nullptr ? MessageKind::copy_in : MessageKind::copy_out);
    control_message_.put(domain->id);
    control_message_.put(begin + chunk * half);
    control_message_.put(static_cast<std::uint64_t>((chunk % 2) * half));
    control_message_.put(static_cast<std::uint64_t>(size_of_chunk(chunk)));
    control_message_.put(copy_of_chunk(chunk));
    if (is_checked()) note_hand({}, copy_token(copy_of_chunk(chunk), CopyMoment::asked));
    send_control(chip, control_message_.finish());
  };
  std::optional<Failure> failure;
  const auto end = [&](std::size_t chunk) {
    MessageReader reply = await_reply(chip, lock);
    if (reply.kind() != MessageKind::done && !failure) failure = get_failure(reply);
    release_reply(chip);
    if (is_checked() && !failure) note_take({}, copy_token(copy_of_chunk(chunk), CopyMoment::made));
    lock.unlock();
    if (to != nullptr && !failure) std::memcpy(to + chunk * half, place_of_chunk(chunk), size_of_chunk(chunk));
    lock.lock();
  };
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    if (chunk >= 2) end(chunk - 2);
    start(chunk);
  }
  for (std::size_t chunk = chunks >= 2 ? chunks - 2 : 0; chunk < chunks; ++chunk) end(chunk);
  if (failure) throw Error(failure->code, failure->message, failure->notes);
}

}  // namespace baton::node
