#include "base/trace_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include "base/fail.hpp"
#include "base/text_file.hpp"
#include "base/ticks.hpp"

namespace baton {
namespace {

template <class Clock>
std::int64_t now_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

/// On the whole file. Such locks belong to the open file, are changed from one kind to the other at once, and end with
/// the last process that has it open.
int lock(int fd, short kind, int command) noexcept {
  struct flock whole {};
  whole.l_type = kind;
  whole.l_whence = SEEK_SET;
  int result = 0;
  do {
    result = ::fcntl(fd, command, &whole);
  } while (result != 0 && errno == EINTR);
  return result;
}

bool is_same_file(int a, int b) noexcept {
  struct stat of_a {};
  struct stat of_b {};
  return ::fstat(a, &of_a) == 0 && ::fstat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

template <std::size_t Bytes>
void copy_text(char (&to)[Bytes], std::string_view text) noexcept {
  std::memcpy(to, text.data(), std::min(text.size(), Bytes - 1));
}

constexpr ClockSource clock_of_ticks() noexcept {
#if defined(__aarch64__) || defined(__x86_64__)
  return ClockSource::processor;
#else
  return ClockSource::monotonic;
#endif
}

}  // namespace

std::string boot_id() {
  std::string id = read_text_file("/proc/sys/kernel/random/boot_id").value_or("");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

FileMapping::FileMapping(int fd, std::uint64_t offset, std::size_t bytes, const std::string& path) : bytes_(bytes) {
  void* const address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (address == MAP_FAILED) fail_system(fmt::format("mapping {} bytes of {}", bytes, path));
  data_ = address;
}

FileMapping::FileMapping(FileMapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

FileMapping& FileMapping::operator=(FileMapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

FileMapping::~FileMapping() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

TraceFile::TraceFile(const std::string& path) : path_(path) {
  // Each turn but the last meets a file that somebody else has put in the place of another meanwhile.
  while (!try_open()) {
  }
}

bool TraceFile::try_open() {
  lock_.reset(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock_) fail_system(fmt::format("opening {} for a trace", path_));
  struct stat status {};
  if (::fstat(lock_.get(), &status) != 0) fail_system(fmt::format("fstat of {}", path_));
  if (!S_ISREG(status.st_mode)) fail(Code::invalid_argument, "{} cannot be a trace: it is not a plain file", path_);
  const bool alone = lock(lock_.get(), F_WRLCK, F_OFD_SETLK) == 0;
  // The process that begins the file has it for some microseconds, and loses it if it dies.
  if (!alone && lock(lock_.get(), F_RDLCK, F_OFD_SETLKW) != 0) fail_system(fmt::format("sharing {}", path_));
  fd_.reset(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  if (!is_same_file(fd_.get(), lock_.get())) return false;
  if (!alone) {
    join();
    return true;
  }
  if (status.st_size != 0) {
    // An old one is not emptied: a thread of this process may still have a chunk of it in memory.
    if (::unlink(path_.c_str()) != 0) fail_system(fmt::format("replacing {}", path_));
    return false;
  }
  begin();
  if (lock(lock_.get(), F_RDLCK, F_OFD_SETLK) != 0) fail_system(fmt::format("sharing {}", path_));
  return true;
}

void TraceFile::begin() {
  if (const int error = ::posix_fallocate(fd_.get(), 0, kTraceHeaderBytes); error != 0) {
    errno = error;
    fail_system(fmt::format("giving {} its first bytes", path_));
  }
  header_ = std::make_shared<FileMapping>(fd_.get(), 0, kTraceHeaderBytes, path_);
  TraceHeader& to = header();
  to.version = kTraceVersion;
  to.event_bytes = sizeof(EventRecord);
  to.chunk_bytes = kChunkBytes;
  to.clock = clock_of_ticks();
  to.created_ns = now_ns<std::chrono::system_clock>();
  copy_text(to.boot_id, boot_id());
  char host[64] = {};
  if (::gethostname(host, sizeof host - 1) == 0) copy_text(to.host, host);
  to.first.ns.store(now_ns<std::chrono::steady_clock>(), std::memory_order_relaxed);
  to.first.ticks.store(ticks(), std::memory_order_relaxed);
  stamp();
  to.magic = kTraceMagic;
}

void TraceFile::join() {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) fail_system(fmt::format("fstat of {}", path_));
  if (status.st_size < static_cast<off_t>(kTraceHeaderBytes)) {
    fail(Code::protocol, "{} is in use, but is not a trace", path_);
  }
  header_ = std::make_shared<FileMapping>(fd_.get(), 0, kTraceHeaderBytes, path_);
  if (header().magic != kTraceMagic || header().version != kTraceVersion) {
    fail(Code::protocol, "{} is being written by another version of Baton, or is not a trace", path_);
  }
}

// Relaxed, both: the caller has waited for the processes to end.
bool TraceFile::has_processes() const noexcept { return header().processes.load(std::memory_order_relaxed) != 0; }
std::uint32_t TraceFile::add_process() noexcept { return header().processes.fetch_add(1, std::memory_order_relaxed); }

std::uint64_t TraceFile::next_offset() noexcept {
  return kTraceHeaderBytes + header().chunks.fetch_add(1, std::memory_order_relaxed) * kChunkBytes;
}

FileMapping TraceFile::add_chunk(ChunkKind kind, ChunkOwner owner) {
  const std::uint64_t offset = next_offset();
  if (const int error = ::posix_fallocate(fd_.get(), static_cast<off_t>(offset), kChunkBytes); error != 0) {
    errno = error;
    fail_system(fmt::format("giving {} another {} bytes", path_, kChunkBytes));
  }
  FileMapping chunk(fd_.get(), offset, kChunkBytes, path_);
  auto& to = *static_cast<ChunkHeader*>(chunk.data());
  to.kind = kind;
  to.process = owner.process;
  to.thread = owner.thread;
  to.host = owner.host;
  to.magic = kChunkMagic;
  stamp();
  return chunk;
}

void TraceFile::add_full(EventChunk& live) {
  const std::uint64_t first = live.header.first.load(std::memory_order_relaxed);
  add_full({live.header.process, live.header.thread, live.header.host}, first, std::as_bytes(std::span(live.slots)));
  live.header.first.store(first + kChunkEvents, std::memory_order_relaxed);
}

void TraceFile::add_full(ChunkOwner owner, std::uint64_t first, std::span<const std::byte> slots) {
  alignas(EventChunk) std::byte head[kChunkHeaderBytes] = {};
  auto& header = *new (head) ChunkHeader{.magic = kChunkMagic,
                                         .kind = ChunkKind::full,
                                         .process = owner.process,
                                         .thread = owner.thread,
                                         .first = first,
                                         .host = owner.host};
  auto& ring = *new (&header + 1) EventRing{};
  ring.written.store(kChunkEvents, std::memory_order_relaxed);
  const std::uint64_t offset = next_offset();
  // The head last: who finds it finds the events, too.
  write_all(slots.data(), slots.size(), offset + sizeof head);
  write_all(head, sizeof head, offset);
}

void TraceFile::write_all(const void* bytes, std::size_t count, std::uint64_t offset) {
  const auto* from = static_cast<const std::byte*>(bytes);
  while (count > 0) {
    const ssize_t written = ::pwrite(fd_.get(), from, count, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_system(fmt::format("writing {} bytes to {}", count, path_));
    from += written;
    offset += static_cast<std::uint64_t>(written);
    count -= static_cast<std::size_t>(written);
  }
}

void TraceFile::stamp() noexcept {
  // Two processes may mix their pairs: both are of nearly the same moment.
  header().last.ns.store(now_ns<std::chrono::steady_clock>(), std::memory_order_relaxed);
  header().last.ticks.store(ticks(), std::memory_order_relaxed);
}

}  // namespace baton
