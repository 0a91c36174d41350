// From the file to spans.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "base/fail.hpp"
#include "base/ticks.hpp"
#include "base/trace_file.hpp"
#include "base/unique_fd.hpp"
#include "trace/trace.hpp"

namespace baton::trace {
namespace {

/// The whole file in memory, for reading.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0) fail_system(fmt::format("opening {}", path));
    if (!S_ISREG(status.st_mode) || static_cast<std::size_t>(status.st_size) < kTraceHeaderBytes) {
      fail(Code::protocol, "{} is not a trace: it has {} bytes", path, status.st_size);
    }
    bytes_ = static_cast<std::size_t>(status.st_size);
    data_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd.get(), 0);
    if (data_ == MAP_FAILED) fail_system(fmt::format("mapping {}", path));
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() { ::munmap(data_, bytes_); }

  [[nodiscard]] const TraceHeader& header() const noexcept { return *static_cast<const TraceHeader*>(data_); }
  [[nodiscard]] std::size_t chunks() const noexcept { return (bytes_ - kTraceHeaderBytes) / kChunkBytes; }
  [[nodiscard]] const void* chunk(std::size_t number) const noexcept {
    return static_cast<const std::byte*>(data_) + kTraceHeaderBytes + number * kChunkBytes;
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Ticks as nanoseconds after the header's first pair.
class Clock {
 public:
  explicit Clock(const TraceHeader& header) : first_ticks_(header.first.ticks.load(std::memory_order_relaxed)) {
    if (header.clock == ClockSource::monotonic) return;
    const std::int64_t first_ns = header.first.ns.load(std::memory_order_relaxed);
    std::uint64_t later_ticks = header.last.ticks.load(std::memory_order_relaxed);
    std::int64_t later_ns = header.last.ns.load(std::memory_order_relaxed);
    const std::string boot(header.boot_id, ::strnlen(header.boot_id, sizeof header.boot_id));
    if (!boot.empty() && boot == boot_id()) {
      // Both clocks run on: the longer, the more exact.
      later_ns =
          std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
              .count();
      later_ticks = ticks();
    }
    if (later_ticks > first_ticks_) {
      ns_per_tick_ = static_cast<double>(later_ns - first_ns) / static_cast<double>(later_ticks - first_ticks_);
    }
  }
  [[nodiscard]] std::int64_t ns(std::uint64_t ticks) const noexcept {
    return static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(ticks - first_ticks_)) *
                                     ns_per_tick_);
  }

 private:
  std::uint64_t first_ticks_;
  double ns_per_tick_ = 1.0;
};

/// One thread of one process.
struct Stream {
  std::vector<const EventChunk*> full;  // by number
  const EventChunk* live = nullptr;
};

class Reader {
 public:
  explicit Reader(const std::string& path) : file_(path), clock_(checked(file_.header(), path)) {}

  [[nodiscard]] Trace read() {
    sort_chunks();
    for (auto& [key, stream] : streams_) read_stream(key.first, stream);
    finish();
    return std::move(trace_);
  }

 private:
  static const TraceHeader& checked(const TraceHeader& header, const std::string& path) {
    if (header.magic != kTraceMagic) fail(Code::protocol, "{} is not a trace", path);
    if (header.version != kTraceVersion || header.event_bytes != sizeof(Event) || header.chunk_bytes != kChunkBytes) {
      fail(Code::protocol, "{} was written by another version of Baton (format {}, not {})", path, header.version,
           kTraceVersion);
    }
    return header;
  }

  void sort_chunks() {
    const TraceHeader& header = file_.header();
    trace_.host.assign(header.host, ::strnlen(header.host, sizeof header.host));
    trace_.created_ns = header.created_ns;
    trace_.processes = header.processes.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < file_.chunks(); ++i) {
      const auto& chunk = *static_cast<const ChunkHeader*>(file_.chunk(i));
      if (chunk.magic != kChunkMagic) {
        ++trace_.lost_chunks;
        continue;
      }
      Stream& stream = streams_[{chunk.process, chunk.thread}];
      switch (chunk.kind) {
        case ChunkKind::live: stream.live = static_cast<const EventChunk*>(file_.chunk(i)); break;
        case ChunkKind::full: stream.full.push_back(static_cast<const EventChunk*>(file_.chunk(i))); break;
        case ChunkKind::texts: {
          const auto& texts = *static_cast<const TextChunk*>(file_.chunk(i));
          read_texts(texts.text_header, texts.text, texts_[chunk.process]);
          break;
        }
        default: ++trace_.lost_chunks;
      }
    }
  }

  void read_stream(std::uint32_t process, Stream& stream) {
    const auto first_of = [](const EventChunk* chunk) { return chunk->header.first.load(std::memory_order_relaxed); };
    std::ranges::sort(stream.full, {}, first_of);
    std::uint64_t next = 0;
    for (const EventChunk* chunk : stream.full) {
      for (const auto& slot : chunk->slots) add(process, slot);
      next = first_of(chunk) + kChunkEvents;
    }
    if (stream.live == nullptr) return;
    // Pairs with the store of the writer, which may be at work.
    const std::uint64_t written = stream.live->ring.written.load(std::memory_order_acquire);
    next = std::max(next, first_of(stream.live));
    if (written - std::min(written, next) > kChunkEvents) next = written - kChunkEvents;
    for (; next < written; ++next) add(process, stream.live->slots[next % kChunkEvents]);
  }

  void add(std::uint32_t process, const EventSlot& slot) {
    RingWriter::Words words{};
    for (std::size_t i = 0; i < kEventWords; ++i) words[i] = slot.words[i].load(std::memory_order_relaxed);
    const Event event = event_of(words);
    if (event.kind == EventKind::none) return;
    Span span{.begin = clock_.ns(event.begin),
              .end = event.end == 0 ? 0 : clock_.ns(event.end),
              .kind = event.kind,
              .outcome = event.outcome,
              .lane = {event.rank, event.lane},
              .object = text_of(process, event.object),
              .place = text_of(process, event.place),
              .a = event.a,
              .b = event.b,
              .c = event.c,
              .d = event.d,
              .open = event.end == 0};
    if (event.kind == EventKind::task) {
      for (std::uint64_t* time : {&span.b, &span.c, &span.d}) *time = static_cast<std::uint64_t>(clock_.ns(*time));
    }
    if (event.kind == EventKind::collective) span.b = text_of(process, static_cast<TextId>(event.b));
    if (event.kind == EventKind::lane) trace_.lane_names[span.lane] = trace_.text(span.object);
    trace_.spans.push_back(span);
  }

  [[nodiscard]] Text text_of(std::uint32_t process, TextId id) {
    if (id == 0) return 0;
    const auto known = numbers_.find(std::uint64_t{process} << 32U | id);
    if (known != numbers_.end()) return known->second;
    const auto found = texts_[process].find(id);
    const std::string text = found == texts_[process].end() ? fmt::format("#{}", id) : found->second;
    const auto [entry, added] = by_text_.try_emplace(text, static_cast<Text>(trace_.texts.size()));
    if (added) trace_.texts.push_back(text);
    return numbers_[std::uint64_t{process} << 32U | id] = entry->second;
  }

  /// Times from the first event on; waits that were recorded twice once.
  void finish() {
    auto& spans = trace_.spans;
    std::ranges::stable_sort(spans, {}, &Span::begin);
    if (spans.empty()) return;
    const std::int64_t first = spans.front().begin;
    std::int64_t last = first;
    for (const Span& span : spans) last = std::max({last, span.begin, span.end});
    trace_.length = last - first;
    // Of equal begin, lane and kind, the one with an end comes with the other.
    for (std::size_t i = 0; i < spans.size(); ++i) {
      if (!spans[i].open) continue;
      for (std::size_t j = i + 1; j < spans.size() && spans[j].begin == spans[i].begin; ++j) {
        if (!spans[j].open && spans[j].kind == spans[i].kind && spans[j].lane == spans[i].lane) {
          spans[i].kind = EventKind::none;
        }
      }
      spans[i].end = last;
    }
    std::erase_if(spans, [](const Span& span) { return span.kind == EventKind::none; });
    for (Span& span : spans) {
      span.begin -= first;
      span.end -= first;
      if (span.kind != EventKind::task) continue;
      for (std::uint64_t* time : {&span.b, &span.c, &span.d}) *time -= static_cast<std::uint64_t>(first);
    }
  }

  MappedFile file_;
  Clock clock_;
  Trace trace_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Stream> streams_;
  std::map<std::uint32_t, std::map<TextId, std::string>> texts_;  // by process
  std::unordered_map<std::uint64_t, Text> numbers_;
  std::unordered_map<std::string, Text> by_text_;
};

}  // namespace

Trace read_trace(const std::string& path) { return Reader(path).read(); }

}  // namespace baton::trace
