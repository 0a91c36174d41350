#include "node/far_memory.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/service_thread.hpp"
#include "node/changed_bytes.hpp"

namespace baton::node {

void take_staging(std::span<std::byte> staging, const FarMessage& message) {
  const std::uint64_t offset = message.head.a;
  if (offset > staging.size() || message.payload.size() > staging.size() - offset) return;
  std::memcpy(staging.data() + offset, message.payload.data(), message.payload.size());
}

FarMemoryServer::FarMemoryServer(std::shared_ptr<BufferTable> buffers, Answer answer)
    : buffers_(std::move(buffers)),
      answer_(std::move(answer)),
      thread_(start_service_thread("baton-memory", [this] { serve(); })) {}

FarMemoryServer::~FarMemoryServer() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void FarMemoryServer::ask(std::uint32_t chip, const FarMessage& fetch) {
  Request request{.chip = chip, .number = fetch.head.a, .buffer = fetch.head.b, .begin = 0, .bytes = fetch.head.c};
  if (fetch.payload.size() != sizeof request.begin) return;
  std::memcpy(&request.begin, fetch.payload.data(), sizeof request.begin);
  const std::lock_guard lock(mutex_);
  requests_.push_back(request);
  changed_.notify_all();
}

bool FarMemoryServer::change(const FarMessage& changes) {
  const auto buffer = buffers_->find(changes.head.a);
  return buffer && ChangedBytes::apply(changes.payload, {buffer->address, buffer->bytes});
}

void FarMemoryServer::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !requests_.empty(); });
    if (stop_) return;
    const Request request = requests_.front();
    requests_.pop_front();
    lock.unlock();
    try {
      answer(request);
    } catch (const std::exception& error) {
      log::warn("chip {} waits for memory of the node until its deadline: {}", request.chip, error.what());
    }
    lock.lock();
  }
}

void FarMemoryServer::answer(const Request& request) {
  const auto buffer = buffers_->find(request.buffer);
  if (!buffer || request.bytes > buffer->bytes || request.begin > buffer->bytes - request.bytes) {
    return answer_(request.chip, {.request = request.number, .refused = true, .bytes = {}});
  }
  answer_(request.chip, {.request = request.number,
                         .refused = false,
                         .bytes = std::span(buffer->address + request.begin, request.bytes)});
}

void FarMemory::use(std::uint64_t id, const MappedBuffer& buffer, std::int64_t begin, std::int64_t end, Use use) {
  used_.push_back({.id = id,
                   .address = buffer.address + begin,
                   .begin = static_cast<std::uint64_t>(begin),
                   .bytes = static_cast<std::uint64_t>(end - begin),
                   .use = use});
}

std::size_t FarMemory::open_fetches() {
  const std::lock_guard lock(mutex_);
  return fetches_.size();
}

void FarMemory::fetch(std::uint64_t id, std::uint64_t begin, std::byte* to, std::uint64_t bytes) {
  const std::uint64_t request = ++last_request_;
  {
    const std::lock_guard lock(mutex_);
    fetches_[request] = {to, bytes};
  }
  courier_.send(FarKind::fetch, {request, id, bytes}, std::as_bytes(std::span(&begin, 1)));
}

void FarMemory::await(std::size_t most) {
  const auto settled = [&] {
    path_.progress();
    return open_fetches() <= most;
  };
  if (settled() || wait_until(place_, settled, Deadline::within(timeout_), [] {})) return;
  const std::lock_guard lock(mutex_);
  fetches_.clear();  // what comes now is dropped
  fail(Code::wait_timeout, "for {:.3g} s the node has not sent the memory that a task uses",
       std::chrono::duration<double>(timeout_).count());
}

void FarMemory::fetch_pieces(std::uint64_t id, std::uint64_t begin, std::span<std::byte> to) {
  for (std::uint64_t at = 0; at < to.size(); at += kFarPiece) {
    await(kFarPiecesAtOnce - 1);
    fetch(id, begin + at, to.data() + at, std::min<std::uint64_t>(kFarPiece, to.size() - at));
  }
}

void FarMemory::await_all(const char* what) {
  await(0);
  bool refused = false;
  {
    const std::lock_guard lock(mutex_);
    refused = std::exchange(refused_, false);
  }
  if (refused) fail(Code::released, "{}", what);
}

void FarMemory::fetch_all(std::uint64_t id, std::span<std::byte> to) {
  fetch_pieces(id, 0, to);
  await_all("the node does not have the library any more that a chip asks for");
}

void FarMemory::bring() {
  for (const Used& used : used_) fetch_pieces(used.id, used.begin, {used.address, used.bytes});
  await_all("a task uses memory that the node has freed");
  for (Used& used : used_) {
    if (used.use == Use::write) used.before.assign(used.address, used.address + used.bytes);
  }
}

void FarMemory::take_back() {
  std::size_t on_their_way = 0;
  for (const Used& used : used_) {
    if (used.use == Use::read) continue;
    ChangedBytes changes(used.begin, used.before, {used.address, used.bytes});
    for (auto piece = changes.next(); !piece.empty(); piece = changes.next()) {
      courier_.send(FarKind::changes, {used.id, 0, 0}, piece);
      if (++on_their_way < kFarPiecesAtOnce) continue;
      on_their_way = 0;
      if (!path_.flush(comm::Flushed::everything, Deadline::within(timeout_))) {
        fail(Code::wait_timeout, "for {:.3g} s the node has not taken the memory that a task changed",
             std::chrono::duration<double>(timeout_).count());
      }
    }
  }
  used_.clear();
}

void FarMemory::take(const FarMessage& data) {
  const std::lock_guard lock(mutex_);
  const auto found = fetches_.find(data.head.a);
  if (found == fetches_.end()) return;
  if (data.head.b != 0 || data.payload.size() != found->second.bytes) {
    refused_ = true;
  } else {
    std::memcpy(found->second.to, data.payload.data(), data.payload.size());
  }
  fetches_.erase(found);
}

}  // namespace baton::node
