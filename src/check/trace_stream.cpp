#include "check/trace_stream.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <queue>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include "base/fail.hpp"
#include "base/trace_file.hpp"

namespace baton::check {

TraceStream::TraceStream(const std::string& path) : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (!fd_) fail_system(fmt::format("opening {}", path_));
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) fail_system(fmt::format("fstat of {}", path_));
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  read_header(bytes);
  index(bytes);
}

void TraceStream::read(void* to, std::size_t bytes, std::uint64_t offset) const {
  auto* at = static_cast<std::byte*>(to);
  while (bytes > 0) {
    const ssize_t count = ::pread(fd_.get(), at, bytes, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail_system(fmt::format("reading {} bytes of {}", bytes, path_));
    at += count;
    offset += static_cast<std::uint64_t>(count);
    bytes -= static_cast<std::size_t>(count);
  }
}

void TraceStream::read_header(std::uint64_t file_bytes) {
  if (file_bytes < kTraceHeaderBytes) fail(Code::protocol, "{} is not a trace: it has {} bytes", path_, file_bytes);
  TraceHeader header{};
  read(&header, sizeof header, 0);
  if (header.magic != kTraceMagic || header.version != kTraceVersion || header.chunk_bytes != kChunkBytes) {
    fail(Code::protocol, "{} is not a trace, or one of another version of Baton", path_);
  }
}

void TraceStream::index(std::uint64_t file_bytes) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> numbers;
  const auto chunk = std::make_unique<TextChunk>();
  for (std::uint64_t at = kTraceHeaderBytes; at + kChunkBytes <= file_bytes; at += kChunkBytes) {
    ChunkHeader header{};
    read(&header, sizeof header, at);
    if (header.magic != kChunkMagic) continue;
    if (header.kind == ChunkKind::texts) {
      read(chunk.get(), sizeof *chunk, at);
      read_texts(chunk->text_header, chunk->text, texts_[header.process]);
    } else if (header.kind == ChunkKind::live || header.kind == ChunkKind::full) {
      const auto [number, is_new] = numbers.try_emplace({header.process, header.thread}, threads_.size());
      if (is_new) threads_.emplace_back().process = header.process;
      threads_[number->second].chunks.emplace(header.first.load(std::memory_order_relaxed), at);
    }
  }
}

bool TraceStream::fill(Thread& thread) {
  const auto chunk = std::make_unique<EventChunk>();
  while (thread.ready.empty()) {
    if (thread.chunks.empty()) return false;
    const auto [first, at] = *thread.chunks.begin();
    thread.chunks.erase(thread.chunks.begin());
    read(chunk.get(), sizeof *chunk, at);
    std::uint64_t number = first;
    auto contents = read_ring(chunk->ring, chunk->slots, kChunkEvents);
    // Of a ring that goes round, what a full chunk has already.
    if (chunk->header.kind == ChunkKind::live) number = contents.first;
    for (const auto& words : contents.events) {
      if (number++ < thread.next) continue;
      thread.next = number;
      const baton::Event event = baton::event_of(words);
      const bool is_membership = event.kind == EventKind::joined || event.kind == EventKind::left;
      if (is_membership || info_of(event.kind).level == EventLevel::check) thread.ready.push_back(event);
    }
  }
  return true;
}

void TraceStream::for_each(FunctionRef<void(const baton::Event&, std::uint32_t process)> visit) {
  using Head = std::pair<std::uint64_t, std::size_t>;  // time, thread
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (fill(threads_[i])) heads.emplace(threads_[i].ready.front().begin, i);
  }
  while (!heads.empty()) {
    const std::size_t number = heads.top().second;
    heads.pop();
    Thread& thread = threads_[number];
    visit(thread.ready.front(), thread.process);
    thread.ready.pop_front();
    if (!thread.ready.empty() || fill(thread)) heads.emplace(thread.ready.front().begin, number);
  }
}

const std::string& TraceStream::text(std::uint32_t process, TextId id) const {
  static const std::string nothing;
  const auto of_process = texts_.find(process);
  if (of_process == texts_.end()) return nothing;
  const auto found = of_process->second.find(id);
  return found == of_process->second.end() ? nothing : found->second;
}

}  // namespace baton::check
