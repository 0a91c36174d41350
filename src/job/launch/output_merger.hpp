// Merges the output of all ranks, line by line.
//
// Nothing is dropped and memory stays bounded: while the reader of baton's output is slow, or while one rank is in the
// middle of a line too long to hold, the pipes of the others are left alone, and their writers wait in the kernel.
//
// Errors have many lines, which programs write one by one. So a rank that writes to standard error keeps its place
// there, for as long as it goes on without a pause: the others come afterwards.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.hpp"
#include "job/launch/event_loop.hpp"
#include "job/launch/line_stream.hpp"
#include "job/launch/output_sink.hpp"
#include "job/launch/rank_processes.hpp"

namespace baton::job {

class OutputMerger final : public RankOutput {
 public:
  struct Settings {
    OutputForm form;
    int ranks;
    int output_fd;
    int error_fd;
    /// A rank that has not written to standard error for so long has ended its block of lines ...
    std::chrono::nanoseconds error_pause = std::chrono::milliseconds(20);
    /// ... and one that never pauses has to let others in after so long.
    std::chrono::nanoseconds error_turn = std::chrono::milliseconds(500);
  };

  OutputMerger(EventLoop& loop, Settings settings);
  ~OutputMerger() override;
  OutputMerger(const OutputMerger&) = delete;
  OutputMerger& operator=(const OutputMerger&) = delete;

  /// Starts to read what `rank` writes.
  void add(int rank, UniqueFd output, UniqueFd error) override;

  /// Lines of the launcher itself, for standard error; they come with the next flush().
  void tell(std::string_view lines);

  /// Call after each round of the event loop.
  void flush();

  /// The writers are gone: reads what their pipes still hold, without waiting for other holders of the pipes.
  void begin_drain();
  /// After begin_drain(): nothing is left to read or to write.
  [[nodiscard]] bool drained() const noexcept;
  /// Gives up what has not been written.
  void discard() noexcept;

  /// The errno with which standard output or standard error failed, or 0.
  [[nodiscard]] int error() const noexcept;

  /// When flush() has to be called although no event came.
  [[nodiscard]] Deadline deadline() const;

 private:
  struct Sink;
  struct Stream;

  [[nodiscard]] std::string prefix(int rank, const OutputSink& sink) const;
  enum class Kind : std::uint8_t { output, error };
  void add_stream(int rank, Kind kind, UniqueFd pipe, Sink& sink);
  void read(Stream& stream);
  void finish(Stream& stream);
  void drain(Stream& stream);
  void settle(Sink& sink);
  void watch(Stream& stream);
  template <class Action>
  void for_each_open(Sink& sink, Action&& action);
  void break_stalled_line(Sink& sink);
  void keep_the_floor(const Stream& stream) const;
  void end_turn(Sink& sink);
  [[nodiscard]] static bool may_read(const Stream& stream);

  EventLoop& loop_;
  Settings settings_;
  bool draining_ = false;
  std::vector<std::unique_ptr<Sink>> sinks_;  // one, if both descriptors are the same file
  std::vector<std::unique_ptr<Stream>> streams_;
  std::size_t next_turn_ = 0;  // index into streams_
};

}  // namespace baton::job
