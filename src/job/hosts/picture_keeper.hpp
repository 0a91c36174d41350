// Keeps the picture of a job over several hosts, and has it made anew for `baton ps`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ticks.hpp"
#include "base/unique_fd.hpp"
#include "comm/control_setup.hpp"
#include "comm/rendezvous.hpp"
#include "job/frames.hpp"
#include "job/job_picture.hpp"
#include "job/job_snapshot.hpp"
#include "job/launch/event_loop.hpp"

namespace baton::job {

class PictureKeeper {
 public:
  /// `host_names` are of the hosts of all ranks. `asked` is called when somebody wants to see: it has all ranks drawn,
  /// and then calls answer().
  PictureKeeper(EventLoop& loop, const std::string& job, const std::vector<std::string>& host_names,
                std::function<void()> asked);
  ~PictureKeeper();
  PictureKeeper(const PictureKeeper&) = delete;
  PictureKeeper& operator=(const PictureKeeper&) = delete;

  /// A frame of kind `seen`. Throws Error (protocol) if it is of no rank.
  void draw(FrameReader& frame);
  /// Nothing came of `rank` when its host was asked.
  void note_silence(std::uint32_t rank);
  void note_end(const comm::RankEnd& end);
  /// All that was asked for has been drawn.
  void answer();

  [[nodiscard]] comm::ControlView view() const noexcept;
  /// What `rank` does, or did last; nothing if it has not joined.
  [[nodiscard]] std::optional<RankSnapshot> look(std::uint32_t rank) const;
  /// What all ranks do, as lines of a report; none if no rank has joined.
  [[nodiscard]] std::vector<std::string> explain() const;

 private:
  void accept();
  [[nodiscard]] comm::ProcessState& process(std::uint32_t rank) const noexcept;
  [[nodiscard]] wire::ControlHeader& header() const noexcept { return segment_.header(); }

  EventLoop& loop_;
  std::function<void()> asked_;
  TickScale scale_;
  comm::ControlSegment segment_;
  UniqueFd socket_;
  std::vector<UniqueFd> askers_;
};

}  // namespace baton::job
