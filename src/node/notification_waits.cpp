// Tasks that wait for a notification: a chip watches the signal beside its tasks and tells when it is there.
#include <algorithm>

#include "base/fail.hpp"
#include "node/tokens.hpp"
#include "node/worker_state.hpp"

namespace baton::node {

Tensor WorkerState::submit_notification_wait(RunState& run, const Tensor& signal, std::int32_t expected,
                                             const Place& where) {
  if (signal.dtype() != DType::int32 || signal.element_count() != 1) {
    fail(Code::invalid_argument, "a signal is one int32, not {}; pass one element: signals.slice(i, i + 1)",
         signal.describe());
  }
  if ((signal.buffer().id & kDomainBuffer) == 0) {
    fail(Code::invalid_argument, "{} lies in no window: peers notify signals in buffers of a domain",
         signal.describe());
  }
  {
    Lock lock(mutex_);
    progress();
    await_room(lock);
  }
  const std::lock_guard control(control_mutex_);
  Lock lock(mutex_);
  std::size_t rank = 0;
  const auto domain = domain_of(signal, rank);
  const int chip = domain->chips[rank];
  check_run(run, chip);
  check_answers(chip);
  // Its end may be told as soon as the chip knows of it.
  Unit& made = add_unit(&run, kHost, kNoCallable, where);
  made.watcher = chip;
  made.domain = domain->id;
  made.phase = Unit::Phase::sent;
  --blocked_;
  const graph::TaskId id = made.id;
  // Pairs with the load in news(), before which the chip has told the end.
  link(chip).watched.fetch_add(1, std::memory_order_seq_cst);
  const Tensor token = token_of(id);
  map_.record(
      graph::view_of(token), graph::Use::write, id, [](graph::TaskId) { return false; }, [](graph::TaskId) {});
  begin_request(MessageKind::watch_signal);
  control_message_.put(id);
  control_message_.put(checked_.id);
  control_message_.put(domain->id);
  control_message_.put(signal.address() - domain->windows[rank]);
  control_message_.put(expected);
  try {
    send_control(chip, control_message_.finish());
    MessageReader reply = await_reply(chip, lock);
    std::optional<Failure> refused;
    if (reply.kind() != MessageKind::done) refused = get_failure(reply);
    release_reply(chip);
    if (refused) {
      link(chip).watched.fetch_sub(1, std::memory_order_relaxed);
      throw Error(refused->code, refused->message, refused->notes);
    }
  } catch (...) {
    if (live(id)) finish(unit(id));
    throw;
  }
  settle();
  return token;
}

bool WorkerState::take_replies(ChipLink& from) {
  bool any = false;
  while (!from.reply) {
    const auto record = from.replies.next();
    if (!record) break;
    MessageReader message(*record);
    if (message.kind() != MessageKind::wait_ended) {
      if (message.get<std::uint64_t>() <= from.given_up) {
        from.replies.release();
        continue;
      }
      from.reply = record;
      // Pairs with the load in news(), for which it is only a hint: the taker of the reply looks behind it.
      from.has_reply.store(true, std::memory_order_seq_cst);
      break;
    }
    wait_ended(from, message);
    from.replies.release();
    any = true;
  }
  return any;
}

void WorkerState::wait_ended(ChipLink& from, MessageReader& told) {
  from.watched.fetch_sub(1, std::memory_order_relaxed);
  const auto id = told.get<graph::TaskId>();
  std::optional<Failure> failure;
  if (told.get<std::uint32_t>() != 0) failure = get_failure(told);
  // One that its run has given up is not there any more.
  if (live(id)) complete(id, failure ? &*failure : nullptr);
}

/// Those of a run that failed: nobody may be left to notify. Tasks that wait for them were finished before.
void WorkerState::give_up_waits(RunState& run) {
  for (Unit& one : units_) {
    if (one.run == &run && one.watcher != kHost && one.phase != Unit::Phase::done) finish(one);
  }
}

/// A chip's windows of a domain stay until the waits in them have ended.
void WorkerState::wait_for_watchers(Unit& release) {
  for (Unit& one : units_) {
    if (one.domain != release.domain || one.watcher != release.chip || one.phase == Unit::Phase::done) continue;
    depend_on_one(release, one.id);
  }
}

}  // namespace baton::node
