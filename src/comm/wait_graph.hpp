// Who waits for whom: the ranks of a job as a graph, and who of them cannot get on any more.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "comm/wait_record.hpp"

namespace baton::comm {

/// A rank of a job, as a graph of waits sees it.
struct RankOfGraph {
  enum class State : std::uint8_t {
    acts,   // runs, or waits for something that is not another rank's: it may do anything
    waits,  // all it does is wait
    gone,   // left, died, or never came: it does nothing more
  };
  State state = State::acts;
  /// Of one that waits; several if its threads or cores wait at once.
  std::vector<WaitDescription> waits;
};

/// What a wait needs of others.
struct Awaited {
  enum class Who : std::uint8_t {
    any,    // one of `ranks` may end it: a signal
    every,  // each of `ranks` must still come: a barrier, an allocation
  };
  Who who = Who::any;
  std::vector<std::uint32_t> ranks;  // of the job, ascending
};

class WaitGraph {
 public:
  WaitGraph() = default;
  explicit WaitGraph(std::vector<RankOfGraph> ranks);

  [[nodiscard]] const std::vector<RankOfGraph>& ranks() const noexcept { return ranks_; }

  /// Whom `wait` of `rank` is for. Ranks that are at the same barrier or allocation are not missing there. Without the
  /// members of its domain on record, all ranks of the job count as members.
  [[nodiscard]] Awaited awaited_by(std::uint32_t rank, const WaitDescription& wait) const;

  /// Those that cannot get on whatever the others do: each of their waits is for ranks of which all (any: of a barrier)
  /// are among them or gone. Ascending; empty if there is hope for everybody.
  [[nodiscard]] std::vector<std::uint32_t> stuck() const;

  /// Ranks of which each waits for the next one and for no other rank that could help, the last for the first; empty if
  /// there are none such among `stuck`.
  [[nodiscard]] std::vector<std::uint32_t> cycle_among(const std::vector<std::uint32_t>& stuck) const;

 private:
  std::vector<RankOfGraph> ranks_;
  std::map<std::string, std::vector<std::uint32_t>> meetings_;  // who is at each, ascending
};

}  // namespace baton::comm
