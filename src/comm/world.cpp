#include "comm/world.hpp"

#include <exception>

namespace baton::comm {

World::World(std::unique_ptr<Backend> backend, std::uint32_t rank, std::string name,
             std::chrono::nanoseconds wait_timeout)
    : backend_(std::move(backend)),
      control_(backend_->control()),
      path_(backend_->path()),
      rank_(rank),
      name_(std::move(name)),
      wait_timeout_(wait_timeout),
      place_{&wire::doorbell_of(control_, rank), backend_->futex_scope(),
             control_.ranks_here <= control_.processors ? Crowding::spare : Crowding::crowded,
             /*gives_way_to_strangers=*/false, path_},
      exceptions_at_join_(std::uncaught_exceptions()) {
  events::begin();
  note(wire::Operation::running);
  EventRecord joined = event_since(EventKind::joined, ticks());
  joined.object = events::text(name_);
  joined.a = control_.rank_count;
  if (events::wants(EventKind::joined)) events::record(joined);
}

World::~World() { leave(std::uncaught_exceptions() > exceptions_at_join_ ? Farewell::fail : Farewell::leave); }

std::uint64_t World::next_sequence(std::uint64_t kind) {
  const std::lock_guard lock(mutex_);
  return sequences_[kind]++;
}

void World::leave(Farewell farewell, const FailureReason& reason) noexcept {
  std::call_once(left_, [&] {
    // A rank that failed is remembered by what it did before.
    if (farewell == Farewell::leave) note(wire::Operation::leaving);
    if (events::wants(EventKind::left)) {
      EventRecord left = event_since(EventKind::left, ticks());
      left.object = events::text(name_);
      if (farewell == Farewell::fail) left.outcome = EventOutcome::failed;
      events::record(left);
    }
    backend_->say_farewell(farewell, reason);
  });
}

}  // namespace baton::comm
