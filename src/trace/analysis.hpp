// What a trace tells: where the time of each rank went, who waited for whom, what nothing could have shortened.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace baton::trace {

/// How far from the one who did something to the one who waited for it.
struct Flow {
  std::size_t from = 0;  // index of a span: a notify, the last arrival at a barrier, an earlier task
  std::size_t to = 0;    // a wait, a later task
  std::int64_t left = 0;
  std::int64_t arrived = 0;  // never before `left`
};

/// Time of a rank. The parts do not overlap: a kernel counts more than a copy, a copy more than a wait.
struct RankTimes {
  std::int64_t kernels = 0;
  std::int64_t copies = 0;
  std::int64_t waiting = 0;
  std::int64_t idle = 0;
  std::int64_t begin = 0;                            // of its first event
  std::int64_t end = 0;                              // of its last one
  std::map<std::uint32_t, std::int64_t> waited_for;  // by rank, waits of all lanes; kNoRank: not known
  std::uint64_t tasks = 0;
  std::uint64_t cores = 0;   // that there are, of the kinds that ran something
  double parallelism = 0;    // cores at work, on average while any was
  std::uint64_t chain = 0;   // most tasks that had to run one after the other
  std::string chain_tensor;  // which most of them shared
  bool died = false;         // it neither left its job nor ended its last wait
};

/// A part of the critical path, the last first.
struct PathPart {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint32_t rank = kNoRank;
  std::optional<std::size_t> span;    // nothing: between events
  std::optional<std::size_t> within;  // between events: what it was in the middle of, if that is recorded
};

struct Analysis {
  std::map<std::uint32_t, RankTimes> ranks;
  std::vector<Flow> notifies;  // to waits and barriers
  std::vector<Flow> edges;     // between tasks
  std::vector<PathPart> critical_path;
};

[[nodiscard]] Analysis analyse(const Trace& trace);

/// For people: tables of ranks and kernels, the critical path, what to look at.
[[nodiscard]] std::string summary(const Trace& trace, const Analysis& analysis);
/// What takes longer in `later` than in `trace`.
[[nodiscard]] std::string difference(const Trace& trace, const Trace& later);

/// "12.3 us".
[[nodiscard]] std::string duration(std::int64_t ns);

}  // namespace baton::trace
