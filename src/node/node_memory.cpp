// The memory of a node: buffers that chips and this process share, and copies.
#include <algorithm>
#include <cstring>

#include "base/fail.hpp"
#include "base/processors.hpp"
#include "node/worker_state.hpp"

namespace baton::node {
namespace {

bool in_window(const Tensor& tensor) { return (tensor.buffer().id & kDomainBuffer) != 0; }

}  // namespace

Tensor WorkerState::create_buffer(int home, DType dtype, Tensor::Extents shape, std::string_view name) {
  std::uint64_t bytes = size_of(dtype);
  for (const std::int64_t extent : shape) {
    if (extent <= 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) {
      fail(Code::invalid_argument, "\"{}\" cannot have a dimension of {} elements", name, extent);
    }
  }
  if (home >= 0) check_chip("a buffer on a chip", home);
  check_obtainable(name, bytes);
  BufferRecord record;
  record.shared.bytes = bytes;
  record.shared.name = name;
  record.shared.fd = comm::create_memfd("baton-buffer", bytes);
  record.shared.memory = comm::map_memfd(record.shared.fd, bytes);
  record.home = home;
  record.given.assign(options_.devices.size(), false);
  const Lock lock(mutex_);
  if (closed_) fail(Code::released, "the worker was closed");
  record.shared.id = ++last_buffer_;
  const Buffer buffer{.address = reinterpret_cast<std::uint64_t>(record.shared.memory->address()),
                      .bytes = bytes,
                      .space = MemorySpace::host,
                      .id = record.shared.id};
  record.allocation = map_.add_allocation(buffer, name);
  by_address_.emplace(buffer.address, buffer.id);
  buffers_.emplace(buffer.id, std::move(record));
  return Tensor(buffer, dtype, shape);
}

BufferRecord& WorkerState::buffer_of(const Tensor& tensor) {
  const Buffer& memory = tensor.buffer();
  if (in_window(tensor)) {
    fail(Code::invalid_argument, "{} lies in the window of a chip: this process cannot reach it; use copy_from()",
         tensor.describe());
  }
  auto found = buffers_.find(memory.id);
  if (memory.id == 0 && memory.space == MemorySpace::host) {
    // A view that somebody made over memory of a buffer.
    const auto after = by_address_.upper_bound(memory.address);
    if (after != by_address_.begin()) found = buffers_.find(std::prev(after)->second);
  }
  if (found == buffers_.end() && memory.id != 0) fail(Code::released, "{} was freed", tensor.describe());
  if (found != buffers_.end()) {
    const auto base = reinterpret_cast<std::uint64_t>(found->second.shared.memory->address());
    const std::uint64_t bytes = found->second.shared.bytes;
    if (memory.address >= base && memory.bytes <= bytes && memory.address - base <= bytes - memory.bytes) {
      return found->second;
    }
  }
  fail(Situation::not_node_memory, "{} is not memory of this node: chips cannot reach it", tensor.describe());
}

std::shared_ptr<DomainRecord> WorkerState::domain_of(const Tensor& tensor, std::size_t& rank) {
  const std::uint64_t id = tensor.buffer().id & ~kDomainBuffer;
  rank = id & kDomainRankMask;
  const auto found = domains_.find(id >> kDomainRankBits);
  if (found == domains_.end() || found->second->released.load(std::memory_order_relaxed) ||
      found->second->generation != generation_) {
    fail(Code::released, "a buffer of a domain that was released is used: {}", tensor.describe());
  }
  return found->second;
}

MemoryWire WorkerState::resolve(const Tensor& tensor, int chip) {
  const Buffer& memory = tensor.buffer();
  if (memory.space == MemorySpace::token) return {kTokenBuffer, memory.address, memory.bytes};
  if (in_window(tensor)) {
    std::size_t rank = 0;
    const auto domain = domain_of(tensor, rank);
    if (domain->chips[rank] != chip) {
      fail(Code::invalid_argument, "{} lies in the window that chip {} has of \"{}\"; the task is for chip {}",
           tensor.describe(), domain->chips[rank], domain->name, chip);
    }
    return {kDomainBuffer | domain->id, memory.address - domain->windows[rank], memory.bytes};
  }
  BufferRecord& buffer = buffer_of(tensor);
  if (buffer.home >= 0 && buffer.home != chip) {
    fail(Code::invalid_argument, "\"{}\" is memory of chip {}; the task is for chip {}", buffer.shared.name,
         buffer.home, chip);
  }
  const auto index = static_cast<std::size_t>(chip);
  if (!buffer.given[index]) {
    chips_->give(index, buffer.shared);
    buffer.given[index] = true;
  }
  return {buffer.shared.id, memory.address - reinterpret_cast<std::uint64_t>(buffer.shared.memory->address()),
          memory.bytes};
}

std::uint64_t WorkerState::buffer_id(const Tensor& tensor) {
  const Lock lock(mutex_);
  return buffer_of(tensor).shared.id;
}

void WorkerState::free_buffer(std::uint64_t id) {
  const Lock lock(mutex_);
  const bool doomed = std::any_of(unused_.begin(), unused_.end(), [&](const auto& one) { return one.second == id; });
  if (doomed || !buffers_.contains(id)) fail(Code::released, "buffer {} was freed before", id);
  unused_.emplace_back(first_ + units_.size(), id);
  drop_unused();
}

void WorkerState::free_later(const std::vector<std::uint64_t>& ids) noexcept {
  const Lock lock(mutex_);
  for (const std::uint64_t id : ids) unused_.emplace_back(first_ + units_.size(), id);
  drop_unused();
}

/// Those whose users are complete.
void WorkerState::drop_unused() {
  std::erase_if(unused_, [this](const auto& one) {
    if (one.first > first_) return false;
    drop_buffer(one.second);
    return true;
  });
}

void WorkerState::drop_buffer(std::uint64_t id) {
  const auto found = buffers_.find(id);
  if (found == buffers_.end()) return;
  MessageWriter message;
  for (std::size_t chip = 0; chip < found->second.given.size(); ++chip) {
    if (!chips_ || !found->second.given[chip] || !links_[chip].death.empty()) continue;
    message.begin(MessageKind::forget_buffer);
    message.put(id);
    send(static_cast<int>(chip), 0, message.finish());
  }
  if (chips_) chips_->forget(id);
  map_.invalidate(found->second.allocation);
  by_address_.erase(reinterpret_cast<std::uint64_t>(found->second.shared.memory->address()));
  buffers_.erase(found);
}

void WorkerState::check_copy(const Tensor& tensor, std::size_t bytes) const {
  const std::uint64_t own = static_cast<std::uint64_t>(tensor.element_count()) * size_of(tensor.dtype());
  if (own != bytes) fail(Code::invalid_argument, "a copy of {} bytes does not fit {}", bytes, tensor.describe());
  if (!tensor.is_contiguous()) {
    fail(Code::invalid_argument, "{} has gaps; copy its parts, or a contiguous tensor", tensor.describe());
  }
}

void WorkerState::await_users(Lock& lock, const Tensor& tensor, graph::Use access) {
  std::vector<graph::TaskId> users;
  std::vector<graph::TaskId> noted;
  const bool checked = is_checked();
  map_.query(
      graph::view_of(tensor), access, [&](graph::TaskId id) { return checked || matters(id); },
      [&](graph::TaskId id) {
        if (checked) edges_.for_each_member(id, [&](graph::TaskId one) { noted.push_back(one); });
        if (!matters(id)) return;
        // The members of an entangled group hide each other.
        if (!unit(id).entangled) return users.push_back(id);
        for (graph::TaskId one = 0; one < unit(id).group_size; ++one) users.push_back(unit(id).group_first + one);
      });
  if (!users.empty()) {
    static_cast<void>(wait_locked(lock, Deadline::never(), Replies::ignore, [&] {
      return std::none_of(users.begin(), users.end(), [this](graph::TaskId id) { return live(id); });
    }));
  }
  for (const graph::TaskId id : noted) checked_.awaited({}, id);
}

void WorkerState::note_copy(const Tensor& tensor, std::size_t bytes, CheckedUse use, const char* operation) {
  if (!is_checked()) return;
  const BufferRecord& buffer = buffer_of(tensor);
  const std::uint64_t begin = tensor.address() - reinterpret_cast<std::uint64_t>(buffer.shared.memory->address());
  EventRecord event{
      .kind = EventKind::touch, .object = events::text(buffer.shared.name), .place = events::text(operation)};
  pack({.memory = node_memory(checked_.id, buffer.shared.id),
        .begin = begin,
        .how = static_cast<std::uint8_t>(use),
        .holder = CheckedHolder::node,
        .last = begin + bytes},
       event);
  events::record(event);
}

void WorkerState::copy_to(const Tensor& to, const void* from, std::size_t bytes) {
  check_copy(to, bytes);
  Lock lock(mutex_);
  if (in_window(to)) {
    await_users(lock, to, graph::Use::write);
    lock.unlock();
    return copy_window(to, nullptr, static_cast<const std::byte*>(from), bytes);
  }
  static_cast<void>(buffer_of(to));
  await_users(lock, to, graph::Use::write);
  note_copy(to, bytes, CheckedUse::write, "copy_to");
  lock.unlock();
  std::memcpy(reinterpret_cast<void*>(to.address()), from, bytes);
}

void WorkerState::copy_from(void* to, const Tensor& from, std::size_t bytes) {
  check_copy(from, bytes);
  Lock lock(mutex_);
  if (in_window(from)) {
    await_users(lock, from, graph::Use::read);
    lock.unlock();
    return copy_window(from, static_cast<std::byte*>(to), nullptr, bytes);
  }
  static_cast<void>(buffer_of(from));
  await_users(lock, from, graph::Use::read);
  note_copy(from, bytes, CheckedUse::read, "copy_from");
  lock.unlock();
  std::memcpy(to, reinterpret_cast<const void*>(from.address()), bytes);
}

}  // namespace baton::node
