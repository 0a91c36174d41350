// Reads the file of a trace: what each thread recorded, and the texts of each process. The one place that knows how
// events lie in chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/event.hpp"
#include "base/function_ref.hpp"
#include "base/trace_file.hpp"

namespace baton {

/// The file may be one that is still written, or whose writers died.
class TraceReader {
 public:
  using Visit = FunctionRef<void(const EventRecord&, std::uint32_t process)>;

  /// Throws Error (system, protocol).
  explicit TraceReader(const std::string& path);
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;
  ~TraceReader();

  [[nodiscard]] const TraceHeader& header() const noexcept { return *static_cast<const TraceHeader*>(data_); }
  /// Chunks of the file that cannot be read.
  [[nodiscard]] std::uint64_t lost_chunks() const noexcept { return lost_chunks_; }
  /// A text that a process has named; null if it is not in the file.
  [[nodiscard]] const std::string* text(std::uint32_t process, TextId id) const;

  /// Whose clock the times of a process are by: 0 is the host of the header.
  [[nodiscard]] std::uint32_t host_of(std::uint32_t process) const;
  /// The other hosts of the file, by number.
  [[nodiscard]] const std::map<std::uint32_t, const HostChunk*>& hosts() const noexcept { return hosts_; }

  /// All events, thread after thread.
  void for_each(Visit visit) const;
  /// Those that are wanted, by the times they began. Keeps a chunk of each thread in memory.
  void for_each_in_time(FunctionRef<bool(const EventRecord&)> wanted, Visit visit) const;

 private:
  struct Thread {
    std::uint32_t process = 0;
    std::vector<const EventChunk*> chunks;  // by number; the live one last
  };
  /// Goes through the events of one thread, a chunk at a time.
  class Cursor;

  void map(const std::string& path);
  void check_header(const std::string& path) const;
  void index();

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint64_t lost_chunks_ = 0;
  std::vector<Thread> threads_;
  std::map<std::uint32_t, std::map<TextId, std::string>> texts_;  // by process
  std::map<std::uint32_t, const HostChunk*> hosts_;
  std::map<std::uint32_t, std::uint32_t> host_of_;  // by process; without those of host 0
};

}  // namespace baton
