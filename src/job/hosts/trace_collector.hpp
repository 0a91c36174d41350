// The trace of a job over several hosts: what their agents send goes to one file, with how their clocks go beside that
// of this host.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/trace_file.hpp"
#include "job/hosts/trace_messages.hpp"

namespace baton::job {

class TraceCollector {
 public:
  using Send = std::function<void(std::uint32_t host, std::string_view frame)>;

  /// Shares the file with all who write to it here. Hosts are counted from 0. Throws Error (system).
  TraceCollector(const std::string& path, const std::vector<std::string>& hosts, Send send);
  TraceCollector(const TraceCollector&) = delete;
  TraceCollector& operator=(const TraceCollector&) = delete;

  /// Compares the clock of `host` with that of this one by some questions, one after the other.
  void compare_clocks(std::uint32_t host);
  /// The same with one question.
  void look_at_clock(std::uint32_t host);
  /// Whether answers are still to come from `host`.
  [[nodiscard]] bool is_comparing(std::uint32_t host) const noexcept { return hosts_[host].questions > 0; }
  /// `host` will not answer any more.
  void forget(std::uint32_t host) noexcept { hosts_[host].questions = 0; }

  void on_clock(std::uint32_t host, const ClockAnswer& answer);
  void on_part(std::uint32_t host, const TracePart& part);
  /// Parts that have come so far.
  [[nodiscard]] std::uint64_t parts() const noexcept { return parts_; }

 private:
  struct Host {
    FileMapping chunk;
    int questions = 0;                                 // that are still to be asked, and the one under way
    std::map<std::uint32_t, std::uint32_t> processes;  // by their number there
    std::map<std::uint32_t, FileMapping> open;         // by their number there: live chunks, and those of texts
  };

  void ask(std::uint32_t host);
  [[nodiscard]] FileMapping& open_chunk(std::uint32_t host, const TracePart& part);
  [[nodiscard]] ChunkOwner owner_of(std::uint32_t host, const TracePart& part);
  void store(std::uint32_t host, const TracePart& part);

  TraceFile file_;
  std::vector<Host> hosts_;
  Send send_;
  std::uint64_t parts_ = 0;
  bool gave_up_ = false;
};

}  // namespace baton::job
