// What a chip does for its node beside tasks: domains, and copies to and from their windows.
#include "base/fail.hpp"
#include "comm/domain_state.hpp"
#include "node/chip_server.hpp"

namespace baton::node {

void ChipServer::run_control() {
  StreamReader control(views_.control);
  StreamWriter replies(views_.replies);
  MessageWriter reply;
  while (true) {
    const auto record = control.next();
    if (!record) {
      static_cast<void>(wait_until(
          place_, [&] { return control.readable(); }, Deadline::never(), [] {}));
      continue;
    }
    MessageReader message(*record);
    const bool stop = message.kind() == MessageKind::stop_control;
    try {
      reply.begin(MessageKind::done);
      if (!stop) serve_control(message, reply);
    } catch (...) {
      reply.begin(MessageKind::failed);
      put_failure(reply, failure_of(std::current_exception()));
    }
    control.release();
    static_cast<void>(mailbox_.write(replies, reply.finish(), place_, Deadline::within(timeout_)));
    if (stop) return;
  }
}

void ChipServer::serve_control(MessageReader& message, MessageWriter& reply) {
  switch (message.kind()) {
    case MessageKind::start: return;  // was read before
    case MessageKind::open_domain: return open_domain(message, reply);
    case MessageKind::copy_in:
    case MessageKind::copy_out: return copy_window(message);
    default: fail(Code::protocol, "a control message of kind {}", static_cast<std::uint32_t>(message.kind()));
  }
}

void ChipServer::open_domain(MessageReader& message, MessageWriter& reply) {
  const auto id = message.get<std::uint64_t>();
  const std::string name = message.get_text();
  const auto bytes = message.get<std::uint64_t>();
  std::vector<int> members(message.get<std::uint32_t>());
  for (int& member : members) member = message.get<std::int32_t>();
  OpenDomain open;
  open.domain = me_.subset(name, members);
  open.window = open.domain.raw_window(name, bytes);
  reply.put(reinterpret_cast<std::uint64_t>(open.window.context()));
  reply.put(reinterpret_cast<std::uint64_t>(open.window.local()));
  reply.put(static_cast<std::uint64_t>(open.window.bytes()));
  const std::lock_guard lock(mutex_);
  domains_.emplace(id, std::move(open));
}

void ChipServer::copy_window(MessageReader& message) {
  const auto id = message.get<std::uint64_t>();
  const auto offset = message.get<std::uint64_t>();
  const auto staged = message.get<std::uint64_t>();
  const auto bytes = message.get<std::uint64_t>();
  if (staged > views_.staging.size() || bytes > views_.staging.size() - staged) {
    fail(Code::protocol, "a copy of {} bytes at {} of {} bytes of staging memory", bytes, staged,
         views_.staging.size());
  }
  OpenDomain open;
  {
    const std::lock_guard lock(mutex_);
    const auto found = domains_.find(id);
    if (found == domains_.end()) fail(Code::released, "a copy uses the windows of a domain that was released");
    open = found->second;
  }
  if (message.kind() == MessageKind::copy_in) {
    open.window.put(open.domain.rank(), offset, views_.staging.data() + staged, bytes);
  } else {
    open.window.get(open.domain.rank(), offset, views_.staging.data() + staged, bytes);
  }
}

}  // namespace baton::node
