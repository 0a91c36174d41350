// What a chip does for its node beside tasks: domains, and copies to and from their windows.
#include "base/checked_order.hpp"
#include "base/fail.hpp"
#include "comm/address_book.hpp"
#include "comm/domain_state.hpp"
#include "comm/window_state.hpp"
#include "node/chip_server.hpp"
#include "node/far_node.hpp"
#include "node/task_message.hpp"

namespace baton::node {

void ChipServer::run_control() {
  StreamReader control(views_.control);
  StreamWriter replies(views_.replies);
  MessageWriter reply;
  while (true) {
    const auto record = control.next();
    if (!record) {
      tell_ended(replies, reply);
      static_cast<void>(wait_until(
          place_,
          [&] {
            look();
            return control.readable() || watches_.due();
          },
          watches_.next_deadline(), [] {}));
      continue;
    }
    MessageReader message(*record);
    const bool stop = message.kind() == MessageKind::stop_control;
    const auto request = message.get<std::uint64_t>();
    const auto begin_reply = [&](MessageKind kind) {
      reply.begin(kind);
      reply.put(request);
    };
    try {
      begin_reply(MessageKind::done);
      if (!stop) serve_control(message, reply);
    } catch (...) {
      begin_reply(MessageKind::failed);
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
    case MessageKind::watch_signal: return watch_signal(message);
    case MessageKind::trace: return follow_trace(message);
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
  // Pairs with run_tasks(), by itself: that the node asked after it had heard of the chip is known in its process only.
  open.window = chip_.load(std::memory_order_acquire)->window(open.domain, name, bytes);
  std::vector<comm::NamedBuffer> buffers(message.get<std::uint32_t>());
  for (comm::NamedBuffer& buffer : buffers) {
    buffer.name = message.get_text();
    buffer.offset = message.get<std::uint64_t>();
    buffer.bytes = message.get<std::uint64_t>();
  }
  comm::World& world = comm::DomainAccess::state(open.domain)->world();
  if (const auto place = comm::find_window(world, open.window.local(), 1))
    place->window->name_buffers(std::move(buffers));
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
  const auto copy = message.get<std::uint64_t>();
  if (staged > views_.staging.size() || bytes > views_.staging.size() - staged) {
    fail(Code::protocol, "a copy of {} bytes at {} of {} bytes of staging memory", bytes, staged,
         views_.staging.size());
  }
  const OpenDomain open = open_domain_of(id, "a copy");
  // For `baton check`: the chip makes it between two moments of the host.
  const CheckedActor chip{static_cast<std::uint32_t>(me_.rank())};
  if (is_checked()) note_take(chip, copy_token(copy, CopyMoment::asked));
  if (message.kind() == MessageKind::copy_in) {
    open.window.copy_in(offset, views_.staging.data() + staged, bytes);
  } else {
    open.window.copy_out(views_.staging.data() + staged, offset, bytes);
    if (far_ != nullptr) far_->share_staging(staged, views_.staging.subspan(staged, bytes));
  }
  if (is_checked()) note_hand(chip, copy_token(copy, CopyMoment::made));
}

OpenDomain ChipServer::open_domain_of(std::uint64_t id, const char* what) {
  const std::lock_guard lock(mutex_);
  const auto found = domains_.find(id);
  if (found == domains_.end()) fail(Code::released, "{} uses the windows of a domain that was released", what);
  return found->second;
}

void ChipServer::watch_signal(MessageReader& message) {
  const auto task = message.get<std::uint64_t>();
  const auto tasks = message.get<std::uint64_t>();
  const auto id = message.get<std::uint64_t>();
  const auto offset = message.get<std::uint64_t>();
  const auto expected = message.get<std::int32_t>();
  const OpenDomain open = open_domain_of(id, "a wait for a notification");
  if (offset % sizeof(std::int32_t) != 0 || offset + sizeof(std::int32_t) > open.window.bytes()) {
    fail(Code::protocol, "a signal at byte {} of a window of {} bytes", offset, open.window.bytes());
  }
  watches_.add({.task = task,
                .tasks = tasks,
                .domain = id,
                .open = open,
                .offset = offset,
                .expected = expected,
                .deadline = Deadline::within(timeout_),
                .timeout = timeout_});
}

void ChipServer::tell_ended(StreamWriter& replies, MessageWriter& reply) {
  for (const SignalWatches::Ended& ended : watches_.take_ended()) {
    reply.begin(MessageKind::wait_ended);
    reply.put(ended.task);
    reply.put(static_cast<std::uint32_t>(ended.cause ? 1 : 0));
    if (ended.cause) put_failure(reply, failure_of(ended.cause));
    static_cast<void>(mailbox_.write(replies, reply.finish(), place_, Deadline::within(timeout_)));
  }
}

}  // namespace baton::node
