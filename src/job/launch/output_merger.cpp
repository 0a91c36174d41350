#include "job/launch/output_merger.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>

namespace baton::job {
namespace {

constexpr std::size_t kChunkBytes = 64 * 1024;
// How long a rank may pause inside a line too long to hold while others want to write. Without an end to it, ranks that
// wait for each other would wait for ever.
constexpr std::chrono::seconds kLinePatience{5};
constexpr int kNobody = -1;

bool wants_color() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') && terminal != nullptr && std::string_view(terminal) != "dumb";
}

bool readable(int fd) {
  pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&ready, 1, 0) > 0;
}

}  // namespace

struct OutputMerger::Sink {
  explicit Sink(int fd) : file(fd) {}
  OutputSink file;
  Stream* owner = nullptr;  // the stream that is in the middle of a line
  Deadline owner_patience = Deadline::at(Deadline::Clock::time_point::max());
  // The rank that is in the middle of a block of error lines, until when, and when its turn ends in any case.
  int speaker = kNobody;
  Deadline speaker_patience = Deadline::at(Deadline::Clock::time_point::max());
  Deadline turn_end = Deadline::at(Deadline::Clock::time_point::max());
  // As settle() found them last: the streams are watched accordingly.
  bool had_room = true;
  Stream* last_owner = nullptr;
  int last_speaker = kNobody;
  std::string staging;
};

struct OutputMerger::Stream {
  UniqueFd pipe;
  LineStream lines;
  Sink& sink;
  std::size_t index;  // in streams_
  int rank;
  Kind kind;
};

OutputMerger::OutputMerger(EventLoop& loop, Settings settings) : loop_(loop), settings_(settings) {
  sinks_.push_back(std::make_unique<Sink>(settings.output_fd));
  if (!OutputSink::same_file(settings.output_fd, settings.error_fd)) {
    sinks_.push_back(std::make_unique<Sink>(settings.error_fd));
  }
}

OutputMerger::~OutputMerger() {
  for (auto& stream : streams_) loop_.remove(stream->pipe.get());
  for (auto& sink : sinks_) loop_.remove(sink->file.poll_fd());
}

std::string OutputMerger::prefix(int rank, const OutputSink& sink) const {
  if (settings_.form != OutputForm::prefixed) return {};
  const std::size_t width = fmt::formatted_size("{}", settings_.ranks - 1);
  const std::string text = fmt::format("[{:>{}}]", rank, width);
  if (!sink.is_terminal() || !wants_color()) return text + ' ';
  constexpr std::array kColors = {36, 33, 32, 35, 34, 31};
  return fmt::format("\x1b[2;{}m{}\x1b[0m ", kColors[static_cast<std::size_t>(rank) % kColors.size()], text);
}

void OutputMerger::add(int rank, UniqueFd output, UniqueFd error) {
  add_stream(rank, Kind::output, std::move(output), *sinks_.front());
  add_stream(rank, Kind::error, std::move(error), *sinks_.back());
}

void OutputMerger::add_stream(int rank, Kind kind, UniqueFd pipe, Sink& sink) {
  ::fcntl(pipe.get(), F_SETFL, O_NONBLOCK);  // baton's end of the pipe alone
  streams_.push_back(std::make_unique<Stream>(
      Stream{std::move(pipe), LineStream(settings_.form, prefix(rank, sink.file)), sink, streams_.size(), rank, kind}));
  Stream& stream = *streams_.back();
  watch(stream);
}

void OutputMerger::tell(std::string_view lines) {
  Sink& errors = *sinks_.back();
  if (errors.owner != nullptr) errors.file.append("\n");
  errors.file.append(lines);
}

bool OutputMerger::may_read(const Stream& stream) {
  const Sink& sink = stream.sink;
  return stream.pipe && sink.file.has_room() && (sink.owner == nullptr || sink.owner == &stream) &&
         (sink.speaker == kNobody || sink.speaker == stream.rank);
}

void OutputMerger::keep_the_floor(const Stream& stream) const {
  if (stream.kind != Kind::error || settings_.ranks == 1 || draining_) return;
  Sink& sink = stream.sink;
  if (sink.speaker != stream.rank) sink.turn_end = Deadline::after(settings_.error_turn);
  sink.speaker = stream.rank;
  sink.speaker_patience = Deadline::at(std::min(Deadline::after(settings_.error_pause).when(), sink.turn_end.when()));
}

/// Begins with the stream whose turn it is: those that are watched first are read first, and a rank that always has
/// something to say must not keep the others from being heard.
template <class Action>
void OutputMerger::for_each_open(Sink& sink, Action&& action) {
  const std::size_t first = next_turn_;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    Stream& stream = *streams_[(first + i) % streams_.size()];
    if (&stream.sink == &sink && stream.pipe) action(stream);
  }
}

void OutputMerger::end_turn(Sink& sink) {
  const int before = sink.speaker;
  sink.speaker = kNobody;
  // Those who waited come before one that would go on without end.
  for_each_open(sink, [&](Stream& stream) {
    if (stream.rank != before && readable(stream.pipe.get())) read(stream);
  });
}

void OutputMerger::read(Stream& stream) {
  if (!may_read(stream)) return;
  char chunk[kChunkBytes];
  const ssize_t count = ::read(stream.pipe.get(), chunk, sizeof chunk);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    finish(stream);
    return;
  }
  next_turn_ = stream.index + 1;
  Sink& sink = stream.sink;
  stream.lines.take({chunk, static_cast<std::size_t>(count)}, sink.staging);
  sink.owner = stream.lines.holds_line() ? &stream : nullptr;
  sink.owner_patience = Deadline::after(kLinePatience);
  keep_the_floor(stream);
  sink.file.append(sink.staging);
  sink.staging.clear();
  if (!sink.file.has_room() || sink.owner != sink.last_owner || sink.speaker != sink.last_speaker) settle(sink);
}

void OutputMerger::finish(Stream& stream) {
  loop_.remove(stream.pipe.get());
  stream.pipe.reset();
  Sink& sink = stream.sink;
  stream.lines.finish(sink.staging);
  sink.file.append(sink.staging);
  sink.staging.clear();
  if (sink.owner == &stream) sink.owner = nullptr;
  if (stream.kind == Kind::error && sink.speaker == stream.rank) sink.speaker = kNobody;
}

void OutputMerger::drain(Stream& stream) {
  // What a pipe holds now is at most its capacity; a process that still writes into it is not part of the job.
  const int capacity = ::fcntl(stream.pipe.get(), F_GETPIPE_SZ);
  loop_.remove(stream.pipe.get());
  for (std::size_t left = capacity > 0 ? static_cast<std::size_t>(capacity) : kChunkBytes; left > 0;) {
    char chunk[kChunkBytes];
    const ssize_t count = ::read(stream.pipe.get(), chunk, std::min(left, sizeof chunk));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    stream.lines.take({chunk, static_cast<std::size_t>(count)}, stream.sink.staging);
    left -= static_cast<std::size_t>(count);
  }
  finish(stream);
}

void OutputMerger::begin_drain() {
  draining_ = true;
  for (auto& sink : sinks_) {
    // Each is read to its end now, and the rank that was speaking goes first.
    for (const auto& stream : streams_) {
      if (stream->rank == sink->speaker && &stream->sink == sink.get() && stream->kind == Kind::error)
        next_turn_ = stream->index;
    }
    sink->speaker = kNobody;
  }
  flush();
}

void OutputMerger::flush() {
  for (auto& sink : sinks_) {
    break_stalled_line(*sink);
    if (sink->speaker != kNobody && sink->speaker_patience.passed()) end_turn(*sink);
    settle(*sink);
  }
}

/// Writes, and stops or resumes reading according to what could be written.
void OutputMerger::settle(Sink& sink) {
  sink.file.flush();
  if (sink.file.error() != 0) {
    for_each_open(sink, [&](Stream& stream) { finish(stream); });  // its writer gets SIGPIPE, as it would without us
  } else if (draining_) {
    if (sink.owner != nullptr && sink.file.has_room()) drain(*sink.owner);
    for_each_open(sink, [&](Stream& stream) {
      if (may_read(stream)) {
        drain(stream);
        sink.file.flush();
      } else {
        loop_.remove(stream.pipe.get());
      }
    });
  } else if (sink.had_room != sink.file.has_room() || sink.last_owner != sink.owner ||
             sink.last_speaker != sink.speaker) {
    for_each_open(sink, [&](Stream& stream) { watch(stream); });
  }
  sink.had_room = sink.file.has_room();
  sink.last_owner = sink.owner;
  sink.last_speaker = sink.speaker;
  const int fd = sink.file.poll_fd();
  const bool wait = sink.file.queued_bytes() > 0;
  if (wait && !loop_.watches(fd)) loop_.add(fd, EPOLLOUT, [this, &sink] { settle(sink); });
  if (!wait) loop_.remove(fd);
}

void OutputMerger::watch(Stream& stream) {
  const int fd = stream.pipe.get();
  if (!may_read(stream)) {
    loop_.remove(fd);
  } else if (!loop_.watches(fd)) {
    loop_.add(fd, EPOLLIN, [this, &stream] { read(stream); });
  }
}

void OutputMerger::break_stalled_line(Sink& sink) {
  if (sink.owner == nullptr || !sink.file.has_room() || !sink.owner_patience.passed()) return;
  const bool others_wait = std::any_of(streams_.begin(), streams_.end(), [&](const auto& stream) {
    return &stream->sink == &sink && stream.get() != sink.owner && stream->pipe && readable(stream->pipe.get());
  });
  sink.owner_patience = Deadline::after(kLinePatience);
  if (!others_wait) return;
  sink.owner->lines.break_line(sink.staging);
  sink.file.append(sink.staging);
  sink.staging.clear();
  sink.owner = nullptr;
}

bool OutputMerger::drained() const noexcept {
  return std::none_of(streams_.begin(), streams_.end(), [](const auto& stream) { return bool(stream->pipe); }) &&
         std::all_of(sinks_.begin(), sinks_.end(), [](const auto& sink) { return sink->file.queued_bytes() == 0; });
}

void OutputMerger::discard() noexcept {
  for (auto& stream : streams_) {
    loop_.remove(stream->pipe.get());
    stream->pipe.reset();
  }
  for (auto& sink : sinks_) sink->file.discard();
}

int OutputMerger::error() const noexcept {
  for (const auto& sink : sinks_) {
    if (sink->file.error() != 0) return sink->file.error();
  }
  return 0;
}

Deadline OutputMerger::deadline() const {
  auto when = Deadline::Clock::time_point::max();
  for (const auto& sink : sinks_) {
    if (sink->owner != nullptr && sink->file.has_room()) when = std::min(when, sink->owner_patience.when());
    if (sink->speaker != kNobody) when = std::min(when, sink->speaker_patience.when());
  }
  return Deadline::at(when);
}

}  // namespace baton::job
