// What recording costs, what a trace takes on the disk, and how long a large one takes to become a page that is open.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "base/recorder.hpp"
#include "support/contend.hpp"
#include "support/measure.hpp"
#include "trace/export.hpp"

namespace {

using baton::EventKind;
using baton::EventRecord;
using bench::Arguments;

/// A file that goes with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& ending)
      : path_(std::filesystem::temp_directory_path() / ("baton-bench-" + std::to_string(::getpid()) + ending)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// One event of `kind`, without a look at the clock, which is the floor.
template <EventKind kind>
double record(std::int64_t count) {
  const auto start = bench::Clock::now();
  for (std::int64_t i = 0; i < count; ++i) {
    if (baton::events::wants(kind)) {
      const auto now = static_cast<std::uint64_t>(i) + 1;
      baton::events::record({.begin = now, .end = now, .kind = kind, .rank = 0, .a = now});
    }
    // The loop is not to be taken apart.
    asm volatile("" ::: "memory");
  }
  return bench::nanoseconds_since(start);
}

void event(const Arguments& arguments) {
  const auto alone = [](double ns) { return ns; };
  if (arguments.method == "last")
    return bench::print(bench::measure(arguments.budget, record<EventKind::notify>, alone));
  if (arguments.method == "off") return bench::print(bench::measure(arguments.budget, record<EventKind::put>, alone));
  const TemporaryFile file(".trace");
  baton::events::start_trace(file.path());
  bench::print(bench::measure(arguments.budget, record<EventKind::put>, alone));
  baton::events::stop_trace();
}

void clock(const Arguments& arguments) {
  bench::print(bench::measure(
      arguments.budget,
      [](std::int64_t count) {
        const auto start = bench::Clock::now();
        std::uint64_t sum = 0;
        for (std::int64_t i = 0; i < count; ++i) sum += baton::ticks();
        asm volatile("" ::"r"(sum));
        return bench::nanoseconds_since(start);
      },
      [](double ns) { return ns; }));
}

/// `ranks` ranks that do `tasks` things each: puts, notifies, and waits that the neighbour's notifies end.
void make_trace(const std::string& path, int ranks, std::size_t tasks) {
  baton::events::start_trace(path);
  const baton::TextId window = baton::events::text("flags");
  const std::uint64_t begin = baton::ticks();
  for (std::size_t i = 0; i < tasks; ++i) {
    for (int rank = 0; rank < ranks; ++rank) {
      const auto next = static_cast<std::uint64_t>((rank + 1) % ranks);
      const std::uint64_t at = begin + 3000 * i + static_cast<std::uint64_t>(rank % 7) * 100;
      EventRecord made{.begin = at,
                       .end = at + 800,
                       .kind = EventKind::put,
                       .rank = static_cast<std::uint32_t>(rank),
                       .object = window,
                       .a = next,
                       .c = 4096};
      if (i % 3 == 1) made.kind = EventKind::notify, made.end = at, made.c = i;
      if (i % 3 == 2)
        made.kind = EventKind::wait, made.a = static_cast<std::uint64_t>(rank), made.c = 3ULL << 32U | (i - 1);
      baton::events::record(made);
    }
  }
  baton::events::stop_trace();
}

/// Makes the page at --pattern of a trace of --ranks x --tasks events, and says how long that took for an event.
void page(const Arguments& arguments) {
  const TemporaryFile file(".trace");
  make_trace(file.path(), arguments.ranks, arguments.tasks);
  const auto start = bench::Clock::now();
  const baton::trace::Trace trace = baton::trace::read_trace(file.path());
  std::ofstream out(arguments.pattern, std::ios::binary);
  baton::trace::write_page(out, trace, baton::trace::analyse(trace), "bench");
  if (!out.flush()) throw std::runtime_error("cannot write " + arguments.pattern);
  const auto events = static_cast<std::int64_t>(trace.spans.size());
  bench::print({bench::nanoseconds_since(start) / static_cast<double>(events), events});
}

/// Bytes of the file for an event.
void size(const Arguments& arguments) {
  const TemporaryFile file(".trace");
  make_trace(file.path(), arguments.ranks, arguments.tasks);
  const std::uint64_t events = static_cast<std::uint64_t>(arguments.ranks) * arguments.tasks;
  bench::print_bytes(std::filesystem::file_size(file.path()) / events, static_cast<std::int64_t>(events));
}

}  // namespace

int main(int argc, char** argv) {
  return bench::contend(argc, argv, {{"event", event}, {"clock", clock}, {"page", page}, {"size", size}});
}
