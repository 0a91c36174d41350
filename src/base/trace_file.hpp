// The file of a trace: a header, then chunks. All processes of a run have the same file open and take chunks of it.
// Each thread writes to a ring that lies in a chunk, in memory, and copies it to another chunk when it is full. So what
// a thread has written is in the file, also if its process dies the next moment, and nobody collects anything.
// docs/reference/trace.md describes the format; change kTraceVersion with it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/check_clock.hpp"
#include "base/event_ring.hpp"
#include "base/text_arena.hpp"
#include "base/unique_fd.hpp"

namespace baton {

inline constexpr std::uint64_t kTraceMagic = 0x4e4f544142435254;  // "TRCBATON" in memory
inline constexpr std::uint32_t kTraceVersion = 2;
inline constexpr std::uint32_t kChunkMagic = 0x4b4e4843;  // "CHNK" in memory

/// What the times of events count.
enum class ClockSource : std::uint32_t {
  processor = 1,  // the counter of the processors, the same for all processes of a host
  monotonic = 2,  // nanoseconds of CLOCK_MONOTONIC
};

/// The same moment on both clocks.
struct ClockPair {
  std::atomic<std::uint64_t> ticks;
  std::atomic<std::int64_t> ns;  // CLOCK_MONOTONIC
};

struct TraceHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t event_bytes;
  std::uint64_t chunk_bytes;
  std::atomic<std::uint64_t> chunks;     // taken so far
  std::atomic<std::uint32_t> processes;  // that wrote to it so far
  ClockSource clock;
  ClockPair first;
  ClockPair last;
  std::int64_t created_ns;  // CLOCK_REALTIME
  char boot_id[40];         // while it is the same, the clocks of the host run on
  char host[64];            // number 0
  alignas(64) CheckClock check_clock;
};
inline constexpr std::size_t kTraceHeaderBytes = 4096;
static_assert(sizeof(TraceHeader) <= kTraceHeaderBytes);

enum class ChunkKind : std::uint32_t {
  live = 1,   // the ring that a thread writes to: what is not in its full chunks yet
  full = 2,   // a copy of a whole ring
  texts = 3,  // of a process
  host = 4,   // another host, whose chunks somebody brought here
};

struct alignas(64) ChunkHeader {
  std::uint32_t magic;  // written last
  ChunkKind kind;
  std::uint32_t process;  // counted by the header
  std::uint32_t thread;   // of the process
  /// Of the events of the thread, counted from its start: the number of the first one here. Pairs with nothing: a
  /// reader that finds an event twice takes one.
  std::atomic<std::uint64_t> first;
  std::uint32_t host;  // by whose clock its times are
};
inline constexpr std::size_t kChunkHeaderBytes = 4096;
inline constexpr std::uint64_t kChunkEvents = 1024;
inline constexpr std::size_t kChunkBytes = kChunkHeaderBytes + kChunkEvents * sizeof(EventRecord);

/// Both `live` and `full`.
struct EventChunk {
  ChunkHeader header;
  EventRing ring;
  std::byte pad[kChunkHeaderBytes - sizeof(ChunkHeader) - sizeof(EventRing)];
  EventSlot slots[kChunkEvents];
};
static_assert(sizeof(EventChunk) == kChunkBytes);

struct TextChunk {
  ChunkHeader header;
  TextArenaHeader text_header;
  std::byte text[kChunkBytes - sizeof(ChunkHeader) - sizeof(TextArenaHeader)];
};
static_assert(sizeof(TextChunk) == kChunkBytes);

inline constexpr std::size_t kHostSamples = 2048;
/// Of these the first ones that stay; later ones replace those behind them.
inline constexpr std::size_t kFirstHostSamples = 64;

/// The same moment on the clocks of another host and on that of the file's own.
struct HostSample {
  std::atomic<std::uint64_t> ticks;    // there
  std::atomic<std::int64_t> there_ns;  // CLOCK_MONOTONIC
  std::atomic<std::int64_t> here_ns;   // CLOCK_MONOTONIC; may be wrong by `error_ns` either way
  std::atomic<std::int64_t> error_ns;
};

/// Another host, and how its clock went beside ours.
struct HostChunk {
  ChunkHeader header;
  char name[64];
  std::atomic<std::uint64_t> samples_taken;
  std::byte pad[kChunkHeaderBytes - sizeof(ChunkHeader) - 64 - sizeof(std::uint64_t)];
  HostSample samples[kHostSamples];
};
static_assert(sizeof(HostChunk) == kChunkBytes);

/// Where the sample of this number lies, counted from 0.
[[nodiscard]] constexpr std::size_t place_of_sample(std::uint64_t number) noexcept {
  return number < kHostSamples ? number
                               : kFirstHostSamples + (number - kFirstHostSamples) % (kHostSamples - kFirstHostSamples);
}

/// Whose chunk it is.
struct ChunkOwner {
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::uint32_t host = 0;
};

/// Bytes of a file in memory, until the object ends.
class FileMapping {
 public:
  FileMapping() noexcept = default;
  /// Throws Error (system).
  FileMapping(int fd, std::uint64_t offset, std::size_t bytes, const std::string& path);
  FileMapping(FileMapping&& other) noexcept;
  FileMapping& operator=(FileMapping&& other) noexcept;
  ~FileMapping();

  [[nodiscard]] void* data() const noexcept { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// One process's side of a trace that is being written.
class TraceFile {
 public:
  /// Joins those that write to the file now; if nobody does, begins it anew. Throws Error (system, protocol).
  explicit TraceFile(const std::string& path);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile() { stamp(); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The first bytes of the file, which may outlive this object.
  [[nodiscard]] std::shared_ptr<TraceHeader> shared_header() const noexcept { return {header_, &header()}; }
  /// Whether one has ever had a number.
  [[nodiscard]] bool has_processes() const noexcept;
  /// The number of a process that has not written yet.
  [[nodiscard]] std::uint32_t add_process() noexcept;
  /// The next chunk, zero but for its header. It is on the disk's account: writing to it cannot fail. Throws Error
  /// (system) when the disk is full.
  [[nodiscard]] FileMapping add_chunk(ChunkKind kind, ChunkOwner owner);
  /// Puts a copy of a ring that is full into the file, after which its thread may overwrite it. A copy costs less than
  /// fresh memory of the file for each event. Throws like add_chunk().
  void add_full(EventChunk& live);
  /// Puts a full chunk into the file: `slots` are those of all its events, the first of which has the number `first`.
  void add_full(ChunkOwner owner, std::uint64_t first, std::span<const std::byte> slots);
  /// Notes what both clocks show now.
  void stamp() noexcept;

 private:
  [[nodiscard]] TraceHeader& header() const noexcept { return *static_cast<TraceHeader*>(header_->data()); }
  /// False: the file is not the one of that name any more.
  [[nodiscard]] bool try_open();
  void begin();
  void join();
  [[nodiscard]] std::uint64_t next_offset() noexcept;
  void write_all(const void* bytes, std::size_t count, std::uint64_t offset);

  std::string path_;
  /// Says that the file is in use. Apart from `fd_`, because a mapping keeps what it was made from open.
  UniqueFd lock_;
  UniqueFd fd_;
  std::shared_ptr<FileMapping> header_;
};

/// The identity of this boot of the host; empty where the system does not tell.
[[nodiscard]] std::string boot_id();

}  // namespace baton
