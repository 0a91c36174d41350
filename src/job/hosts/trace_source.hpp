// What the ranks of this host record, on its way to the launcher.
//
// They write to a file that has no name. What has been sent makes room for what follows.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/nameless_file.hpp"
#include "base/trace_file.hpp"
#include "job/hosts/link.hpp"
#include "job/hosts/trace_messages.hpp"

namespace baton::job {

class TraceSource {
 public:
  /// Throws Error (system).
  TraceSource();
  ~TraceSource();
  TraceSource(const TraceSource&) = delete;
  TraceSource& operator=(const TraceSource&) = delete;

  /// What BATON_TRACE is to be for the ranks.
  [[nodiscard]] std::string path() const { return file_.path(); }

  /// Notes what has been recorded since the last call.
  void look();
  /// Sends what was found, as long as little waits in the link. True: nothing is left.
  bool send_some(Link& to);

 private:
  struct Open;  // a chunk that is still written to
  void look_at(Open& open);
  void add(const TracePart& part);
  void send_full(Link& to, std::uint32_t chunk);

  NamelessFile file_;
  std::unique_ptr<TraceFile> trace_;  // keeps it in use, so that no rank begins it anew
  std::uint32_t seen_ = 0;            // chunks of the file that have been looked at
  std::vector<std::uint32_t> unborn_;
  std::vector<std::unique_ptr<Open>> open_;
  std::deque<std::uint32_t> full_;  // to be sent
  std::deque<std::string> frames_;  // to be sent, before the full chunks
};

}  // namespace baton::job
