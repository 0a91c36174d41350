// Traces that begin or end while the chips of a node run: each chip that is a process joins the file, or leaves it.
#include "base/log.hpp"
#include "base/recorder.hpp"
#include "base/trace_followers.hpp"
#include "node/chip_server.hpp"
#include "node/worker_state.hpp"

namespace baton::node {

void WorkerState::follow_trace(const events::TraceChange& change) noexcept {
  // In a forked child the chips are its parent's.
  if (!process_.is_this()) return;
  try {
    const std::lock_guard control(control_mutex_);
    Lock lock(mutex_);
    if (closed_ || !chips_) return;
    std::vector<int> asked;
    for (int chip = 0; chip < static_cast<int>(links_.size()); ++chip) {
      if (!link(chip).death.empty() || link(chip).silent()) continue;
      // Those of agents have a trace from them, or none.
      if (!chips_->host(static_cast<std::size_t>(chip)).empty()) continue;
      begin_request(MessageKind::trace);
      control_message_.put(change.level);
      control_message_.put_text(change.path);
      send_control(chip, control_message_.finish());
      asked.push_back(chip);
    }
    for (const int chip : asked) await_trace(chip, change, lock);
  } catch (const Error& error) {
    log::warn("chips are not told of the trace {}: {}", change.path, error.message());
  }
}

void WorkerState::await_trace(int chip, const events::TraceChange& change, Lock& lock) {
  try {
    MessageReader reply = await_reply(chip, lock);
    std::optional<Failure> failure;
    if (reply.kind() != MessageKind::done) failure = get_failure(reply);
    release_reply(chip);
    if (failure) log::warn("what {} does is not in the trace {}: {}", name_of(chip), change.path, failure->message);
  } catch (const Error& error) {
    log::warn("what {} does is not in the trace {}: {}", name_of(chip), change.path, error.message());
  }
}

void ChipServer::follow_trace(MessageReader& message) {
  const auto level = message.get<EventLevel>();
  const std::string path = message.get_text();
  if (path.empty()) return events::stop_trace();
  // One that was started during the trace has it.
  if (events::trace_path() != path) events::start_trace(path, level);
}

}  // namespace baton::node
