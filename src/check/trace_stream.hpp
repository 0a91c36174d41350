// The events of a trace that `baton check` needs, in the order of their times, with bounded memory.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/event.hpp"
#include "base/function_ref.hpp"
#include "base/unique_fd.hpp"

namespace baton::check {

class TraceStream {
 public:
  /// Throws Error (system, protocol).
  explicit TraceStream(const std::string& path);

  /// Calls visit(event, process) for each event of a kind that is recorded for checks, and for who joined and left.
  void for_each(FunctionRef<void(const baton::Event&, std::uint32_t process)> visit);

  /// A text that a process has named.
  [[nodiscard]] const std::string& text(std::uint32_t process, TextId id) const;

 private:
  /// The chunks of one thread: (number of the first event, offset in the file).
  struct Thread {
    std::uint32_t process = 0;
    std::map<std::uint64_t, std::uint64_t> chunks;
    std::deque<baton::Event> ready;
    std::uint64_t next = 0;  // the number of the next event to read
  };
  void read_header(std::uint64_t file_bytes);
  void index(std::uint64_t file_bytes);
  /// Fills `ready` from the next chunk; false at the end.
  bool fill(Thread& thread);
  void read(void* to, std::size_t bytes, std::uint64_t offset) const;

  std::string path_;
  UniqueFd fd_;
  std::vector<Thread> threads_;
  std::map<std::uint32_t, std::map<TextId, std::string>> texts_;
};

}  // namespace baton::check
