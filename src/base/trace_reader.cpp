#include "base/trace_reader.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "base/fail.hpp"

namespace baton {
namespace {

std::uint64_t first_of(const EventChunk* chunk) { return chunk->header.first.load(std::memory_order_relaxed); }

}  // namespace

class TraceReader::Cursor {
 public:
  explicit Cursor(const Thread& thread) : thread_(&thread) {}

  [[nodiscard]] std::uint32_t process() const noexcept { return thread_->process; }
  [[nodiscard]] const EventRecord& event() const noexcept { return events_[at_]; }
  [[nodiscard]] bool is_at_end() const noexcept { return events_.empty(); }

  /// To the next event that is wanted; false at the end.
  bool advance(FunctionRef<bool(const EventRecord&)> wanted) {
    if (at_ + 1 < events_.size()) {
      ++at_;
      return true;
    }
    at_ = 0;
    events_.clear();
    while (events_.empty()) {
      if (chunk_ == thread_->chunks.size()) return false;
      read(*thread_->chunks[chunk_++], wanted);
    }
    return true;
  }

 private:
  void read(const EventChunk& chunk, FunctionRef<bool(const EventRecord&)> wanted) {
    const auto contents = read_ring(chunk.ring, chunk.slots, kChunkEvents);
    // A live ring counts from the thread's start and has what the last full chunk has already.
    std::uint64_t number = chunk.header.kind == ChunkKind::live ? contents.first : first_of(&chunk);
    for (const auto& words : contents.events) {
      if (number++ < next_) continue;
      next_ = number;
      const EventRecord event = event_of(words);
      if (event.kind != EventKind::none && wanted(event)) events_.push_back(event);
    }
  }

  const Thread* thread_;
  std::size_t chunk_ = 0;
  std::uint64_t next_ = 0;  // the number of the next event to read
  std::vector<EventRecord> events_;
  std::size_t at_ = 0;
};

TraceReader::TraceReader(const std::string& path) {
  map(path);
  try {
    check_header(path);
    index();
  } catch (...) {
    ::munmap(data_, bytes_);
    throw;
  }
}

TraceReader::~TraceReader() { ::munmap(data_, bytes_); }

void TraceReader::map(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) fail_system(fmt::format("opening {}", path));
  if (!S_ISREG(status.st_mode) || static_cast<std::size_t>(status.st_size) < kTraceHeaderBytes) {
    fail(Situation::not_a_trace, "{} is not a trace: it has {} bytes", path, status.st_size);
  }
  bytes_ = static_cast<std::size_t>(status.st_size);
  data_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (data_ == MAP_FAILED) fail_system(fmt::format("mapping {}", path));
}

void TraceReader::check_header(const std::string& path) const {
  if (header().magic != kTraceMagic) fail(Situation::not_a_trace, "{} is not a trace", path);
  if (header().version != kTraceVersion || header().event_bytes != sizeof(EventRecord) ||
      header().chunk_bytes != kChunkBytes) {
    fail(Situation::other_trace, "{} was written by another version of Baton (format {}, not {})", path,
         header().version, kTraceVersion);
  }
}

void TraceReader::index() {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> numbers;
  for (std::size_t at = kTraceHeaderBytes; at + kChunkBytes <= bytes_; at += kChunkBytes) {
    const void* const chunk = static_cast<const std::byte*>(data_) + at;
    const auto& header = *static_cast<const ChunkHeader*>(chunk);
    if (header.magic != kChunkMagic) {
      ++lost_chunks_;
      continue;
    }
    if (header.host != 0) host_of_[header.process] = header.host;
    switch (header.kind) {
      case ChunkKind::live:
      case ChunkKind::full: {
        const auto [number, is_new] = numbers.try_emplace({header.process, header.thread}, threads_.size());
        if (is_new) threads_.push_back({header.process, {}});
        threads_[number->second].chunks.push_back(static_cast<const EventChunk*>(chunk));
        break;
      }
      case ChunkKind::texts: {
        const auto& texts = *static_cast<const TextChunk*>(chunk);
        read_texts(texts.text_header, texts.text, texts_[header.process]);
        break;
      }
      case ChunkKind::host: hosts_[header.host] = static_cast<const HostChunk*>(chunk); break;
      default: ++lost_chunks_;
    }
  }
  for (Thread& thread : threads_) {
    std::ranges::sort(thread.chunks, {}, [](const EventChunk* chunk) {
      return std::pair(chunk->header.kind == ChunkKind::live, first_of(chunk));
    });
  }
}

const std::string* TraceReader::text(std::uint32_t process, TextId id) const {
  const auto of_process = texts_.find(process);
  if (of_process == texts_.end()) return nullptr;
  const auto found = of_process->second.find(id);
  return found == of_process->second.end() ? nullptr : &found->second;
}

std::uint32_t TraceReader::host_of(std::uint32_t process) const {
  const auto found = host_of_.find(process);
  return found == host_of_.end() ? 0 : found->second;
}

void TraceReader::for_each(Visit visit) const {
  for (const Thread& thread : threads_) {
    Cursor cursor(thread);
    while (cursor.advance([](const EventRecord&) { return true; })) visit(cursor.event(), cursor.process());
  }
}

void TraceReader::for_each_in_time(FunctionRef<bool(const EventRecord&)> wanted, Visit visit) const {
  std::vector<Cursor> cursors(threads_.begin(), threads_.end());
  using Head = std::pair<std::uint64_t, std::size_t>;  // time, cursor
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  for (std::size_t i = 0; i < cursors.size(); ++i) {
    if (cursors[i].advance(wanted)) heads.emplace(cursors[i].event().begin, i);
  }
  while (!heads.empty()) {
    const std::size_t number = heads.top().second;
    heads.pop();
    Cursor& cursor = cursors[number];
    Head next{};
    do {
      visit(cursor.event(), cursor.process());
      if (!cursor.advance(wanted)) break;
      next = {cursor.event().begin, number};
      // A thread often goes on: nothing is sorted then.
    } while (heads.empty() || next <= heads.top());
    if (!cursor.is_at_end()) heads.push(next);
  }
}

}  // namespace baton
