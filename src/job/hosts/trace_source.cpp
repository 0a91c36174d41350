#include "job/hosts/trace_source.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/event_ring.hpp"

namespace baton::job {
namespace {

/// More does not wait in the link: what the ranks print comes behind it.
constexpr std::size_t kMostQueued = std::size_t{1} << 20U;

constexpr std::uint64_t offset_of(std::uint32_t chunk) {
  return kTraceHeaderBytes + std::uint64_t{chunk} * kChunkBytes;
}

}  // namespace

struct TraceSource::Open {
  Open(std::uint32_t number, FileMapping mapping) : chunk(number), memory(std::move(mapping)) {}

  std::uint32_t chunk;
  FileMapping memory;
  std::uint64_t sent = 0;  // events or bytes
};

TraceSource::TraceSource() : trace_(std::make_unique<TraceFile>(path())) {}
TraceSource::~TraceSource() = default;

void TraceSource::add(const TracePart& part) { frames_.push_back(encode(part)); }

void TraceSource::look() {
  // What is overwritten in a ring meanwhile is in a full chunk, so those come second.
  for (const auto& open : open_) look_at(*open);
  const auto count = static_cast<std::uint32_t>(trace_->shared_header()->chunks.load(std::memory_order_relaxed));
  std::vector<std::uint32_t> unborn = std::exchange(unborn_, {});
  for (; seen_ < count; ++seen_) unborn.push_back(seen_);
  for (const std::uint32_t chunk : unborn) {
    alignas(ChunkHeader) std::array<std::byte, sizeof(ChunkHeader)> bytes{};
    const ssize_t got = ::pread(file_.fd(), bytes.data(), bytes.size(), static_cast<off_t>(offset_of(chunk)));
    const auto& header = *reinterpret_cast<const ChunkHeader*>(bytes.data());
    if (got != static_cast<ssize_t>(bytes.size()) || header.magic != kChunkMagic) {
      unborn_.push_back(chunk);
    } else if (header.kind == ChunkKind::full) {
      full_.push_back(chunk);
    } else if (header.kind == ChunkKind::live || header.kind == ChunkKind::texts) {
      open_.push_back(std::make_unique<Open>(chunk, FileMapping(file_.fd(), offset_of(chunk), kChunkBytes, path())));
      look_at(*open_.back());
    }
  }
}

void TraceSource::look_at(Open& open) {
  const auto& header = *static_cast<const ChunkHeader*>(open.memory.data());
  TracePart part{
      .chunk = open.chunk, .kind = header.kind, .process = header.process, .thread = header.thread, .bytes = {}};
  if (header.kind == ChunkKind::texts) {
    const auto& texts = *static_cast<const TextChunk*>(open.memory.data());
    // Pairs with the store in append_text().
    const auto used =
        std::min<std::uint64_t>(texts.text_header.used.load(std::memory_order_acquire), sizeof texts.text);
    if (used <= open.sent) return;
    part.first = open.sent;
    part.bytes = {reinterpret_cast<const char*>(texts.text) + open.sent, static_cast<std::size_t>(used - open.sent)};
    add(part);
    open.sent = used;
    return;
  }
  const auto& events = *static_cast<const EventChunk*>(open.memory.data());
  // Pairs with the store in BasicRingWriter::write().
  if (events.ring.written.load(std::memory_order_acquire) <= open.sent) return;
  const auto contents = read_ring(events.ring, events.slots, kChunkEvents);
  const std::uint64_t end = contents.first + contents.events.size();
  part.first = std::max(contents.first, open.sent);
  if (end <= part.first) return;
  const auto skipped = static_cast<std::size_t>(part.first - contents.first);
  part.bytes = {reinterpret_cast<const char*>(contents.events.data() + skipped),
                (contents.events.size() - skipped) * sizeof(EventRecord)};
  add(part);
  open.sent = end;
}

bool TraceSource::send_some(Link& to) {
  while (to.open() && to.queued_bytes() < kMostQueued) {
    if (!frames_.empty()) {
      to.send(frames_.front());
      frames_.pop_front();
    } else if (!full_.empty()) {
      send_full(to, full_.front());
      full_.pop_front();
    } else {
      return true;
    }
  }
  return !to.open();
}

void TraceSource::send_full(Link& to, std::uint32_t chunk) {
  {
    const FileMapping memory(file_.fd(), offset_of(chunk), kChunkBytes, path());
    const auto& events = *static_cast<const EventChunk*>(memory.data());
    to.send(encode(TracePart{.chunk = chunk,
                             .kind = ChunkKind::full,
                             .process = events.header.process,
                             .thread = events.header.thread,
                             .first = events.header.first.load(std::memory_order_relaxed),
                             .bytes = {reinterpret_cast<const char*>(events.slots), sizeof events.slots}}));
  }
  // Where that is not possible the file only takes more room.
  static_cast<void>(::fallocate(file_.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                static_cast<off_t>(offset_of(chunk)), static_cast<off_t>(kChunkBytes)));
}

}  // namespace baton::job
