#include "chip/cores/sim/dma_engine.hpp"

#include <algorithm>
#include <vector>

#include "base/fail.hpp"
#include "base/fiber.hpp"
#include "base/recorder.hpp"

namespace baton::chip {
namespace {

/// Turns that a seeded engine lets pass between two chunks, at the most.
constexpr std::uint64_t kLongestRest = 8;
/// A seeded engine moves at least one part in this many of what is left.
constexpr std::uint64_t kMostChunks = 4;
/// Pieces of one copy to or from another host that are on their way together: while one ends the next ones travel.
constexpr std::size_t kPiecesTogether = 4;

bool overlap(const void* a, std::uint64_t a_bytes, const void* b, std::uint64_t b_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(a);
  const auto second = reinterpret_cast<std::uintptr_t>(b);
  return first < second + b_bytes && second < first + a_bytes;
}

/// Whether one of them writes what the other one reads or writes.
bool depend(const BatonCopy& a, const BatonCopy& b) {
  return overlap(a.destination, a.bytes, b.destination, b.bytes) ||
         overlap(a.destination, a.bytes, b.source, b.bytes) || overlap(a.source, a.bytes, b.destination, b.bytes);
}

}  // namespace

std::uint64_t DmaEngine::open_session() {
  const std::lock_guard lock(mutex_);
  return ++last_session_;
}

void DmaEngine::submit(const BatonCopy& copy, std::shared_ptr<OperationRecord> record, const CheckedCopy& checked) {
  const bool is_far = memory_.has_far_memory() && (memory_.is_far(copy.destination) || memory_.is_far(copy.source));
  {
    const std::lock_guard lock(mutex_);
    sessions_[copy.session].push_back({copy, std::move(record), ++submitted_, is_far, checked});
  }
  // Pairs with the load in serve(). Sequentially consistent because the doorbell is rung after it.
  pending_.fetch_add(1, std::memory_order_seq_cst);
  memory_.parking_place().doorbell->ring(memory_.parking_place().scope);
}

void DmaEngine::wait(const OperationRecord& record) const {
  wait_settled(record);
  static_cast<void>(record.test());
}

void DmaEngine::wait_settled(const OperationRecord& record) const {
  const auto settled = [&] { return record.state() != OperationState::pending; };
  const auto timeout = memory_.wait_timeout();
  if (!settled() && !wait_until(memory_.parking_place(), settled, Deadline::within(timeout), [] {})) {
    fail(Code::wait_timeout, "an asynchronous copy was not complete after {} ms",
         std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count());
  }
}

void DmaEngine::stop() {
  stop_.store(true, std::memory_order_seq_cst);
  memory_.parking_place().doorbell->ring(memory_.parking_place().scope);
}

DmaEngine::Copy* DmaEngine::first_able(Session& session) {
  for (auto copy = session.begin(); copy != session.end(); ++copy) {
    const auto waits_for = [&](const Copy& earlier) { return depend(earlier.request, copy->request); };
    switch (copy->stage) {
      case Copy::Stage::waiting:
        // Behind others it may begin only with these on their way.
        if (copy != session.begin() && (!copy->is_far || std::any_of(session.begin(), copy, waits_for))) return nullptr;
        return &*copy;
      case Copy::Stage::moving:
        if (!copy->is_far || copy->pieces.front().transfer->is_over()) return &*copy;
        break;
      case Copy::Stage::landed:
        if (copy == session.begin()) return &*copy;
        break;
    }
  }
  return nullptr;
}

DmaEngine::Copy* DmaEngine::next() {
  const std::lock_guard lock(mutex_);
  std::vector<Copy*> able;
  for (auto& [number, session] : sessions_) {
    if (Copy* const copy = first_able(session)) able.push_back(copy);
  }
  if (able.empty()) return nullptr;
  if (options_.chance) return able[options_.chance->below(able.size())];
  // What goes on by itself first: the rest is done meanwhile.
  const auto far = std::ranges::find_if(able, [](const Copy* copy) { return copy->is_far; });
  return far == able.end() ? able.front() : *far;
}

bool DmaEngine::can_go_on() {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(sessions_, [](auto& session) { return first_able(session.second) != nullptr; });
}

Deadline DmaEngine::latest_news() {
  const std::lock_guard lock(mutex_);
  Deadline::Clock::time_point latest = Deadline::Clock::time_point::max();
  for (const auto& [number, session] : sessions_) {
    for (const Copy& copy : session) {
      if (!copy.pieces.empty()) latest = std::min(latest, copy.pieces.front().transfer->latest());
    }
  }
  return Deadline::at(latest);
}

void DmaEngine::serve() {
  while (true) {
    // Pairs with submit() and stop().
    const auto is_idle = [this] { return pending_.load(std::memory_order_seq_cst) == 0; };
    const Deadline latest = is_idle() ? Deadline::never() : latest_news();
    const auto called = [&] {
      if (is_idle()) return stop_.load(std::memory_order_seq_cst);
      return can_go_on() || latest_news().when() < latest.when();
    };
    // An engine has no deadline of its own: it ends when it is stopped.
    if (!wait_until(memory_.parking_place(), called, latest, [] {})) continue;
    if (Copy* const copy = next()) {
      go_on(*copy);
    } else if (is_idle()) {
      return;
    }
  }
}

void DmaEngine::go_on(Copy& copy) {
  if (copy.stage == Copy::Stage::waiting) begin(copy);
  if (copy.stage == Copy::Stage::moving) {
    rest();
    copy.is_far ? move_pieces(copy) : move_chunk(copy);
  }
  if (copy.stage == Copy::Stage::landed && is_first(copy)) end(copy);
}

void DmaEngine::begin(Copy& copy) {
  if (events::tracing()) copy.began = ticks();
  copy.stage = Copy::Stage::moving;
  if (const auto why = why_impossible(copy.request)) {
    copy.failure.emplace(Code::out_of_range, *why);
    copy.stage = Copy::Stage::landed;
  } else if (copy.checked.submitted != 0) {
    note_touches(copy);
  }
}

bool DmaEngine::is_first(const Copy& copy) {
  const std::lock_guard lock(mutex_);
  return &sessions_.find(copy.request.session)->second.front() == &copy;
}

void DmaEngine::end(Copy& copy) {
  const auto broken = broken_.find(copy.request.session);
  if (!copy.failure && broken != broken_.end()) copy.failure.emplace(Code::out_of_range, broken->second);
  if (copy.failure) return give_up(copy, *copy.failure);
  rest();
  settle(copy);
  finish(copy);
}

void DmaEngine::give_up(Copy& copy, const Error& why) {
  note(copy, "failed");
  broken_.try_emplace(copy.request.session, "an earlier copy of its session failed: " + why.message());
  copy.record->fail(why.code(), why.message());
  finish(copy);
}

void DmaEngine::settle(Copy& copy) {
  const BatonCopy& request = copy.request;
  if (copy.began != 0) {
    events::record({.begin = copy.began,
                    .end = ticks(),
                    .kind = EventKind::copy,
                    .lane = engine_lane(0),
                    .rank = static_cast<std::uint32_t>(memory_.rank()),
                    .object = events::text(memory_.name_of(request.destination)),
                    .a = request.bytes,
                    .b = copy.number});
  }
  note(copy, "complete");
  try {
    if (request.signal != nullptr) {
      const NotifyOp op = request.signal_op == 0 ? NotifyOp::add : NotifyOp::set;
      notify_through(options_.notifier, memory_, request.signal, request.signal_value, op, source_of(copy));
    }
    if (copy.checked.submitted != 0) memory_.checked().hand(source_of(copy).activity, copy.record->token);
    copy.record->complete();
  } catch (const Error& error) {
    copy.record->fail(error.code(), "its bytes arrived, but its signal did not: " + error.message());
  }
}

EventSource DmaEngine::source_of(const Copy& copy) const noexcept {
  const CheckedCopy& checked = copy.checked;
  if (checked.submitted == 0) return {.where = {}, .lane = engine_lane(0)};
  return {.where = checked.where,
          .lane = engine_lane(0),
          .activity = memory_.checked().activity_of_session(copy.request.session),
          .kernel = checked.kernel};
}

void DmaEngine::note_touches(const Copy& copy) const {
  const BatonCopy& request = copy.request;
  const EventSource from = source_of(copy);
  const CheckedRows line{.row_bytes = request.bytes};
  memory_.checked().take(from.activity, copy.checked.submitted);
  if (request.bytes == 0) return;
  memory_.note_touch(request.source, line, CheckedUse::read, copy.checked.instruction, from);
  memory_.note_touch(request.destination, line, CheckedUse::write, copy.checked.instruction, from);
}

void DmaEngine::rest() {
  const std::uint64_t turns = options_.chance ? options_.chance->below(kLongestRest) : 1;
  for (std::uint64_t i = 0; i < turns; ++i) yield_fiber();
}

std::optional<std::string> DmaEngine::why_impossible(const BatonCopy& request) const {
  if (const auto broken = broken_.find(request.session); broken != broken_.end()) return broken->second;
  const auto unknown = [&](const char* which, const void* address) {
    return fmt::format("its {} {} bytes are in no tensor and no window ({})", request.bytes, which,
                       memory_.describe_nearest(address));
  };
  if (!memory_.known(request.source, request.bytes)) return unknown("source", request.source);
  if (!memory_.known(request.destination, request.bytes)) return unknown("destination", request.destination);
  return std::nullopt;
}

std::uint64_t DmaEngine::chunk_of(std::uint64_t left, std::uint64_t usual) {
  if (!options_.chance || left == 0) return std::min(usual, left);
  const std::uint64_t chunk = left / kMostChunks * (1 + options_.chance->below(kMostChunks));
  return options_.chance->one_in(kMostChunks) ? left : std::max<std::uint64_t>(1, chunk);
}

void DmaEngine::move_chunk(Copy& copy) {
  const std::uint64_t chunk = chunk_of(copy.request.bytes - copy.done, options_.chunk_bytes);
  memory_.copy(static_cast<char*>(copy.request.destination) + copy.done,
               static_cast<const char*>(copy.request.source) + copy.done, chunk);
  copy.done += chunk;
  if (options_.events != nullptr) note(copy, fmt::format("moved {} of {} bytes", copy.done, copy.request.bytes));
  if (copy.done == copy.request.bytes) copy.stage = Copy::Stage::landed;
}

void DmaEngine::move_pieces(Copy& copy) {
  try {
    while (!copy.pieces.empty() && copy.pieces.front().transfer->is_over()) {
      const FarPiece piece = std::move(copy.pieces.front());
      copy.pieces.pop_front();
      piece.transfer->end();
      copy.done += piece.bytes;
      if (options_.events != nullptr) note(copy, fmt::format("moved {} of {} bytes", copy.done, copy.request.bytes));
    }
    while (!copy.failure && copy.pieces.size() < kPiecesTogether && copy.begun < copy.request.bytes) {
      const std::uint64_t chunk = chunk_of(copy.request.bytes - copy.begun, options_.far_chunk_bytes);
      copy.pieces.push_back({memory_.start_far_copy(static_cast<char*>(copy.request.destination) + copy.begun,
                                                    static_cast<const char*>(copy.request.source) + copy.begun, chunk),
                             chunk});
      copy.begun += chunk;
    }
  } catch (const Error& error) {
    // The first one says most. Those on their way still come to an end.
    if (!copy.failure) copy.failure.emplace(error);
  }
  if (copy.pieces.empty() && (copy.failure || copy.begun == copy.request.bytes)) copy.stage = Copy::Stage::landed;
}

void DmaEngine::finish(Copy& copy) {
  memory_.tell_change(reinterpret_cast<const void*>(copy.record->address()));
  pending_.fetch_sub(1, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    const auto session = sessions_.find(copy.request.session);
    session->second.pop_front();
    if (session->second.empty()) sessions_.erase(session);
  }
  memory_.parking_place().doorbell->ring(memory_.parking_place().scope);
}

void DmaEngine::note(const Copy& copy, const std::string& what) const {
  if (options_.events == nullptr) return;
  options_.events->add(fmt::format("{} dma - copy {} to {} {}", memory_.rank(), copy.number,
                                   memory_.name_of(copy.request.destination), what));
}

}  // namespace baton::chip
