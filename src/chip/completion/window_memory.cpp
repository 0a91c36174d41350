#include "chip/completion/window_memory.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include <pto/target/core.hpp>

#include "base/fail.hpp"
#include "base/processors.hpp"
#include "chip/completion/far_copy.hpp"
#include "comm/address_book.hpp"
#include "comm/domain_state.hpp"
#include "comm/health.hpp"
#include "comm/kernel_record.hpp"
#include "comm/path.hpp"
#include "comm/window_state.hpp"

namespace baton::chip {
namespace {

/// As a rank of the job.
std::uint32_t owner_of(const comm::WindowPlace& place) {
  return place.window->domain().members()[static_cast<std::size_t>(place.rank)];
}

}  // namespace

std::unique_ptr<LocalMemory> memory_of_rank(const Domain& me, HostWindows host_windows) {
  const auto& state = comm::DomainAccess::state(me);
  if (state == nullptr) fail(Code::invalid_argument, "a chip cannot be a rank of no domain");
  return std::make_unique<WindowMemory>(state->world_pointer(), host_windows);
}

std::optional<Extent> WindowMemory::extent_of(const void* begin, std::size_t bytes) const {
  if (const auto buffer = LocalMemory::extent_of(begin, bytes)) return buffer;
  if (host_windows_ == HostWindows::out_of_reach) return std::nullopt;
  const auto place = comm::find_window(*world_, begin, bytes);
  if (!place) return std::nullopt;
  return Extent{reinterpret_cast<std::uintptr_t>(begin) - place->offset, place->window->bytes()};
}

std::string WindowMemory::describe_nearest(const void* address) const {
  if (const auto far = far_place(address, 1)) {
    return fmt::format("byte {} of \"{}\" of {}, on another host: instructions reach it, pointers do not", far->offset,
                       far->window->name(),
                       far->window->domain().describe_member(static_cast<std::uint32_t>(far->rank)));
  }
  const std::string buffer = describe_near_buffer(address);
  const auto place = comm::find_window(*world_, address, 1);
  if (buffer.empty() && place && host_windows_ == HostWindows::out_of_reach) {
    return fmt::format("byte {} of \"{}\", a window of the host: kernels of this chip reach those of Chip::window()",
                       place->offset, place->window->name());
  }
  const std::string window = buffer.empty() ? comm::describe_nearest_window(address) : buffer;
  return window.empty() ? LocalMemory::describe_nearest(address) : window;
}

Holder WindowMemory::holder_of(const void* address) const {
  const auto place = comm::find_window(*world_, address, 1);
  if (!place) return Holder::chip;
  const auto own = static_cast<int>(place->window->domain().rank());
  return place->rank == own ? Holder::own_window : Holder::peer_window;
}

std::optional<comm::WindowPlace> WindowMemory::far_place(const void* address, std::size_t bytes) const {
  if (!has_far_memory()) return std::nullopt;
  auto place = comm::find_window(*world_, address, bytes);
  if (place && place->window->is_mapped(place->rank)) place.reset();
  return place;
}

void WindowMemory::copy(void* to, const void* from, std::size_t bytes) {
  const auto target = far_place(to, bytes);
  const auto source = far_place(from, bytes);
  if (!target && !source) return LocalMemory::copy(to, from, bytes);
  if (!target) return source->window->fetch(source->rank, source->offset, to, bytes);
  if (!source) {
    target->window->send(target->rank, target->offset, from, bytes);
    return note_written(*target);
  }
  const auto between = std::make_unique_for_overwrite<std::byte[]>(bytes);
  source->window->fetch(source->rank, source->offset, between.get(), bytes);
  target->window->send(target->rank, target->offset, between.get(), bytes);
  note_written(*target);
}

std::unique_ptr<Transfer> WindowMemory::start_far_copy(void* to, const void* from, std::size_t bytes) {
  const FarEnds ends{far_place(to, bytes), far_place(from, bytes), to, from, bytes};
  return std::make_unique<FarCopy>(ends, [this, target = ends.target] { note_written(*target); });
}

void WindowMemory::note_written(const comm::WindowPlace& target) {
  const std::uint64_t number = writes_.fetch_add(1, std::memory_order_relaxed) + 1;
  std::atomic<std::uint64_t>& last = written_[owner_of(target)];
  // Another core may have noted a later one in between.
  std::uint64_t noted = last.load(std::memory_order_relaxed);
  while (noted < number && !last.compare_exchange_weak(noted, number, std::memory_order_relaxed)) continue;
}

void WindowMemory::await_written(const comm::WindowPlace& told) {
  const std::uint64_t all = writes_.load(std::memory_order_relaxed);
  std::uint64_t arrived = arrived_.load(std::memory_order_relaxed);
  if (arrived >= all) return;
  bool others = false;
  for (std::uint32_t rank = 0; rank < written_.size() && !others; ++rank) {
    others = rank != owner_of(told) && written_[rank].load(std::memory_order_relaxed) > arrived;
  }
  if (!others) return;
  if (!world_->path()->flush(comm::Flushed::puts, Deadline::within(world_->wait_timeout()))) {
    fail(Code::wait_timeout, "what was sent to other hosts had not arrived after {} ms",
         std::chrono::duration_cast<std::chrono::milliseconds>(world_->wait_timeout()).count());
  }
  while (arrived < all && !arrived_.compare_exchange_weak(arrived, all, std::memory_order_relaxed)) continue;
}

void WindowMemory::add_far(void* to, Element element, const void* addends, std::size_t bytes) {
  const auto target = far_place(to, bytes);
  if (!target) return;
  target->window->send_sum(target->rank, target->offset, element, addends, bytes);
  note_written(*target);
}

void WindowMemory::scatter_far(const BatonScatter& pieces) {
  const auto target = far_place(pieces.address, 1);
  if (!target) return;
  const auto* first = static_cast<const std::byte*>(pieces.pieces);
  const std::size_t bytes = pieces.count * (sizeof(std::int64_t) + pieces.piece_bytes);
  constexpr std::uint32_t kChange = (1U << BATON_ELEMENT_SHIFT) - 1;
  target->window->send_pieces(target->rank, target->offset,
                              {.bytes = {first, bytes},
                               .piece_bytes = pieces.piece_bytes,
                               .change = static_cast<wire::ElementChange>(pieces.change & kChange),
                               .element = static_cast<Element>(pieces.change >> BATON_ELEMENT_SHIFT)});
  note_written(*target);
}

std::string WindowMemory::name_of(const void* address) const {
  if (const auto place = comm::find_window(*world_, address, 1)) {
    return fmt::format("{}[{}]+{}", place->window->name(), place->rank, place->offset);
  }
  return LocalMemory::name_of(address);
}

void WindowMemory::notify(std::int32_t* signal, std::int32_t value, NotifyOp op, const EventSource& from) {
  check_aligned("notify", signal);
  const auto place = comm::find_window(*world_, signal, sizeof *signal);
  if (!place) return LocalMemory::notify(signal, value, op, from);
  if (has_far_memory()) await_written(*place);
  place->window->notify(place->rank, place->offset, value, op, from);
}

void WindowMemory::wait(const std::int32_t* signal, WaitCmp comparison, std::int32_t value, const EventSource& from) {
  check_aligned("wait", signal);
  const auto place = comm::find_window(*world_, signal, sizeof *signal);
  if (!place) return LocalMemory::wait(signal, comparison, value, from);
  place->window->wait(place->rank, place->offset, comparison, value, world_->wait_timeout(), from);
}

bool WindowMemory::test(const std::int32_t* signal, WaitCmp comparison, std::int32_t value, const EventSource& from) {
  check_aligned("test", signal);
  const auto place = comm::find_window(*world_, signal, sizeof *signal);
  if (!place) return LocalMemory::test(signal, comparison, value, from);
  return place->window->test(place->rank, place->offset, comparison, value, from);
}

void WindowMemory::note_touch(const void* address, const CheckedRows& rows, CheckedUse use, const char* operation,
                              const EventSource& from) {
  const auto place = comm::find_window(*world_, address, 1);
  if (!place) return LocalMemory::note_touch(address, rows, use, operation, from);
  const comm::CheckedPart part = place->window->checked_part(place->rank);
  if (rows.rows == 1) return comm::note_touch(part, place->offset, rows.row_bytes, use, operation, from);
  comm::note_rows(part, place->offset, rows, use, operation, from);
}

void WindowMemory::note_seen(const std::int32_t* word, WaitCmp comparison, std::int64_t value, const char* operation,
                             const EventSource& from) {
  const auto place = comm::find_window(*world_, word, sizeof *word);
  if (!place) return LocalMemory::note_seen(word, comparison, value, operation, from);
  comm::note_seen(place->window->checked_part(place->rank), place->offset, sizeof *word, comparison, value, operation,
                  from);
}

void WindowMemory::note_deferral(const std::int32_t* word, std::int32_t needs, std::uint64_t began,
                                 const Place& where) {
  if (const auto place = comm::find_window(*world_, word, sizeof *word)) {
    place->window->record_deferral(began, place->rank, place->offset, needs, where);
  }
}

std::uint64_t WindowMemory::spot_of(const void* address) const {
  const auto place = comm::find_window(*world_, address, 1);
  return place ? place->window->arrival_spot(place->offset) : LocalMemory::spot_of(address);
}

void WindowMemory::watch(const void* address, std::int32_t change) {
  if (!comm::find_window(*world_, address, 1)) return LocalMemory::watch(address, change);
  world_->block(world_->rank()).arrivals.watch(change);
}

bool WindowMemory::any_changes() const noexcept {
  return world_->block(world_->rank()).arrivals.any() || LocalMemory::any_changes();
}

void WindowMemory::take_changes(FunctionRef<void(std::uint64_t)> changed) {
  world_->block(world_->rank()).arrivals.take([&](std::uint32_t spot) { changed(spot); });
  LocalMemory::take_changes(changed);
}

void WindowMemory::tell_change(const void* address) {
  const auto place = comm::find_window(*world_, address, 1);
  if (!place) return LocalMemory::tell_change(address);
  const std::uint32_t owner = place->window->domain().members()[static_cast<std::size_t>(place->rank)];
  world_->block(owner).arrivals.mark(place->window->arrival_spot(place->offset));
  world_->ring(owner);
}

int WindowMemory::processors() const noexcept {
  // Of a rank that is bound to its share already, all of that.
  return std::max(1, std::min(usable_processors(), job_processors() / static_cast<int>(world_->control().ranks_here)));
}

bool WindowMemory::outnumbers_processors() const { return world_->parking_place().crowding != Crowding::spare; }

void WindowMemory::show_kernels(std::span<const LongKernel> kernels) noexcept {
  std::vector<comm::ComputingKernel> shown;
  for (const LongKernel& kernel : kernels) {
    shown.push_back({kernel.what, kernel.where, comm::monotonic_ns() - kernel.age.count()});
  }
  comm::write_kernels(world_->block(world_->rank()), shown);
}

bool WindowMemory::shows(const std::int32_t* word) const {
  return comm::find_window(*world_, word, sizeof *word).has_value();
}

void WindowMemory::show_deferred(std::span<const DeferredWait> oldest, std::size_t others) {
  std::vector<comm::StandingWait> shown;
  for (const DeferredWait& wait : oldest) {
    const auto place = comm::find_window(*world_, wait.word, sizeof *wait.word);
    if (!place) continue;
    comm::WaitDescription what = place->window->describe_wait(place->offset, WaitCmp::ge, wait.needs);
    // Both clocks are CLOCK_MONOTONIC.
    what.since_ns = std::chrono::nanoseconds(wait.since.time_since_epoch()).count();
    what.is_patient = true;
    what.actor = wait.task;
    shown.push_back({std::move(what), &place->window->domain().waiting_domain()});
  }
  deferred_.show(shown, others);
}

ParkingPlace WindowMemory::parking_place() const {
  ParkingPlace place = world_->parking_place();
  // Beside a rank's own thread there are those of its chip.
  if (place.crowding == Crowding::spare && 2 * static_cast<int>(world_->control().ranks_here) > job_processors()) {
    place.crowding = Crowding::crowded;
  }
  return place;
}

std::uint32_t WindowMemory::deaths() const noexcept {
  // Pairs with the announcement of a death. Sequentially consistent because it is tested before sleeping.
  return world_->control().changes.load(std::memory_order_seq_cst);
}

std::string WindowMemory::lost_peer() const {
  if (deaths() == 0) return {};
  std::vector<std::uint32_t> ranks(world_->size());
  std::iota(ranks.begin(), ranks.end(), 0U);
  const auto dead = comm::first_death(world_->control(), ranks);
  if (!dead) return {};
  return fmt::format("rank {} died: {}", *dead, comm::describe_end(world_->control(), *dead));
}

void WindowMemory::throw_if_hopeless(const std::int32_t* signal, std::int32_t value) const {
  const auto place = comm::find_window(*world_, signal, sizeof *signal);
  if (place) place->window->throw_if_hopeless(place->rank, place->offset, WaitCmp::ge, value);
}

}  // namespace baton::chip
