#include "chip/cores/sim/dma_engine.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "base/fiber.hpp"
#include "base/recorder.hpp"

namespace baton::chip {
namespace {

/// Turns that a seeded engine lets pass between two chunks, at the most.
constexpr std::uint64_t kLongestRest = 8;
/// A seeded engine moves at least one part in this many of what is left.
constexpr std::uint64_t kMostChunks = 4;

}  // namespace

std::uint64_t DmaEngine::open_session() {
  const std::lock_guard lock(mutex_);
  return ++last_session_;
}

void DmaEngine::submit(const BatonCopy& copy, std::shared_ptr<OperationRecord> record, const CheckedCopy& checked) {
  {
    const std::lock_guard lock(mutex_);
    sessions_[copy.session].push_back({copy, std::move(record), ++submitted_, 0, 0, checked});
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

DmaEngine::Copy* DmaEngine::next() {
  const std::lock_guard lock(mutex_);
  if (sessions_.empty()) return nullptr;
  auto session = sessions_.begin();
  if (options_.chance) std::advance(session, options_.chance->below(sessions_.size()));
  return &session->second.front();
}

void DmaEngine::serve() {
  // Pairs with submit() and stop().
  const auto called = [this] {
    return pending_.load(std::memory_order_seq_cst) != 0 || stop_.load(std::memory_order_seq_cst);
  };
  while (true) {
    // An engine has no deadline of its own: it ends when it is stopped.
    if (!wait_until(memory_.parking_place(), called, Deadline::at(Deadline::Clock::time_point::max()), [] {})) continue;
    Copy* copy = next();
    if (copy == nullptr) return;
    if (copy->done == 0) {
      if (events::tracing()) copy->began = ticks();
      if (const auto why = why_impossible(copy->request)) {
        give_up(*copy, Code::out_of_range, *why);
        continue;
      }
      if (copy->checked.submitted != 0) note_touches(*copy);
    }
    rest();
    try {
      move_chunk(*copy);
    } catch (const Error& error) {  // one that goes to another host
      give_up(*copy, error.code(), error.message());
      continue;
    }
    if (copy->done < copy->request.bytes) continue;
    rest();
    settle(*copy);
    finish(*copy);
  }
}

void DmaEngine::give_up(Copy& copy, Code code, const std::string& why) {
  note(copy, "failed");
  broken_.try_emplace(copy.request.session, "an earlier copy of its session failed: " + why);
  copy.record->fail(code, why);
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

void DmaEngine::move_chunk(Copy& copy) {
  const std::uint64_t left = copy.request.bytes - copy.done;
  std::uint64_t chunk = std::min(options_.chunk_bytes, left);
  if (options_.chance && left != 0) {
    chunk = std::max<std::uint64_t>(1, left / kMostChunks * (1 + options_.chance->below(kMostChunks)));
    if (options_.chance->one_in(kMostChunks)) chunk = left;
  }
  memory_.copy(static_cast<char*>(copy.request.destination) + copy.done,
               static_cast<const char*>(copy.request.source) + copy.done, chunk);
  copy.done += chunk;
  if (options_.events != nullptr) note(copy, fmt::format("moved {} of {} bytes", copy.done, copy.request.bytes));
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
