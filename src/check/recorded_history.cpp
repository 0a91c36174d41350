#include "check/recorded_history.hpp"

#include <span>
#include <utility>

namespace baton::check {
namespace {

Origin origin_of(const EventRecord& recorded, std::uint32_t process) { return {process, recorded.rank, recorded.end}; }

}  // namespace

bool RecordedHistory::wants(const EventRecord& event) noexcept { return is_for_checks(event.kind); }

void RecordedHistory::give(const Event& event) {
  ++events_;
  if (event.kind == Kind::access) ++accesses_;
  finder_.add(event);
}

void RecordedHistory::receive(Actor actor, std::uint64_t token) {
  Event event;
  event.kind = Kind::receive;
  event.actor = actor;
  event.subject = token;
  give(event);
}

Actor RecordedHistory::actor_of(const EventRecord& recorded, std::uint32_t process) {
  // The program of a rank stays the same actor.
  Program& program = programs_[(process + recorded.rank) % programs_.size()];
  const bool is_program = recorded.end == 0;
  if (is_program && program.is_known && program.process == process && program.rank == recorded.rank) {
    finder_.enter(program.actor);
    return program.actor;
  }
  const Actors::Entered entered = actors_.of(origin_of(recorded, process));
  // Other activities begin with what they take.
  if (entered.again || is_program) finder_.enter(entered.actor);
  if (is_program) program = {true, process, recorded.rank, entered.actor};
  return entered.actor;
}

void RecordedHistory::begin_task(const EventRecord& begun, std::uint32_t process) {
  const TaskKey key{begun.b, begun.a};
  chips_.try_emplace(tasks_token(key.chip), key.chip);
  std::span<const std::uint64_t> before;
  if (const auto edges = edges_.find(key); edges != edges_.end()) {
    before = edges->second.earlier;
    edges->second.were_used = true;
  }
  const Origin origin = origin_of(begun, process);
  // The program of a chip runs tasks of a node.
  const Actors::Entered entered =
      begun.end == 0 ? actors_.of(origin) : actors_.begin(origin, key.chip, key.task, before);
  if (entered.again) finder_.enter(entered.actor);
  receive(entered.actor, task_token(key.chip, key.task, TaskMoment::submitted));
  for (const std::uint64_t task : before) {
    receive(entered.actor, task_token(key.chip, task, TaskMoment::ended));
  }
}

void RecordedHistory::add(const EventRecord& recorded, std::uint32_t process) {
  switch (recorded.kind) {
    case EventKind::joined: return finder_.enter(actors_.of({process, recorded.rank}).actor);
    case EventKind::left: return finder_.leave(actors_.of({process, recorded.rank}).actor);
    case EventKind::edge: edges_[{recorded.c, recorded.a}].earlier.push_back(recorded.b); return;
    case EventKind::begun: return begin_task(recorded, process);
    case EventKind::take: {
      receive(actor_of(recorded, process), recorded.a);
      const auto chip = chips_.find(recorded.a);
      if (chip == chips_.end()) return;
      actors_.end_all(chip->second, [this](Actor actor) { finder_.leave(actor); });
      // A node may have another run under way, whose tasks are still to begin.
      std::erase_if(edges_,
                    [&](const auto& entry) { return entry.first.chip == chip->second && entry.second.were_used; });
      return;
    }
    case EventKind::hand: {
      Event event;
      event.kind = Kind::hand;
      event.actor = actor_of(recorded, process);
      event.subject = recorded.a;
      return give(event);
    }
    default: give(access_of(recorded, process));
  }
}

std::string RecordedHistory::text_of(std::uint32_t process, TextId id) const {
  const std::string* const found = trace_.text(process, id);
  return found == nullptr ? std::string() : *found;
}

std::uint32_t RecordedHistory::place_of(std::uint32_t process, TextId id) {
  if (process >= places_.size()) places_.resize(std::size_t{process} + 1);
  std::vector<std::optional<std::uint32_t>>& places = places_[process];
  if (id < places.size() && places[id]) return *places[id];
  const std::uint32_t place = names_.place(text_of(process, id));
  // A number that is in no text is none to count to.
  if (trace_.text(process, id) == nullptr) return place;
  if (id >= places.size()) places.resize(std::size_t{id} + 1);
  places[id] = place;
  return place;
}

Event RecordedHistory::access_of(const EventRecord& recorded, std::uint32_t process) {
  const CheckedBytes bytes = unpack(recorded);
  if (!names_.has_memory(bytes.memory)) names_.add_memory(bytes, text_of(process, recorded.object));
  Event event;
  event.actor = actor_of(recorded, process);
  event.place = place_of(process, recorded.place);
  event.subject = bytes.memory;
  event.begin = bytes.begin;
  event.end = bytes.begin + bytes.word_bytes;
  event.value = static_cast<std::int64_t>(bytes.last);
  switch (recorded.kind) {
    case EventKind::change:
      event.kind = Kind::change;
      event.op = static_cast<NotifyOp>(bytes.how);
      break;
    case EventKind::saw:
      event.kind = Kind::wait;
      event.comparison = static_cast<WaitCmp>(bytes.how);
      break;
    case EventKind::fresh:
      event.kind = Kind::fresh;
      event.end = bytes.last;
      break;
    case EventKind::touch_rows: {
      const CheckedRows rows = CheckedRows::of(bytes.last);
      event.use = static_cast<Use>(bytes.how);
      event.end = bytes.begin + rows.row_bytes;
      event.rows = static_cast<std::uint32_t>(rows.rows);
      event.pitch = rows.pitch_bytes;
      break;
    }
    default: event.use = static_cast<Use>(bytes.how); event.end = bytes.last;
  }
  return event;
}

}  // namespace baton::check
