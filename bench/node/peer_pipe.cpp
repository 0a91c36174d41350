// What a program does without a runtime: processes that take requests from pipes and answer through pipes.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <support/arguments.hpp>
#include <support/contend.hpp>
#include <support/measure.hpp>

namespace {

using bench::Arguments;
using bench::Clock;

void require(bool holds, const char* complaint) {
  if (!holds) throw std::runtime_error(complaint);
}

struct Request {
  char bytes[64];
};
struct Answer {
  char bytes[8];
};

struct Child {
  pid_t pid = -1;
  int requests = -1;
  int answers = -1;
};

[[noreturn]] void serve(int requests, int answers) {
  Request request{};
  const Answer answer{};
  while (::read(requests, &request, sizeof request) == static_cast<ssize_t>(sizeof request)) {
    if (::write(answers, &answer, sizeof answer) != static_cast<ssize_t>(sizeof answer)) break;
  }
  ::_exit(0);
}

class Children {
 public:
  explicit Children(int count) {
    for (int i = 0; i < count; ++i) {
      int to[2];
      int from[2];
      require(::pipe(to) == 0 && ::pipe(from) == 0, "no pipes");
      const pid_t pid = ::fork();
      if (pid == 0) {
        for (const Child& child : all_) ::close(child.requests);
        ::close(to[1]);
        serve(to[0], from[1]);
      }
      ::close(to[0]);
      ::close(from[1]);
      all_.push_back({pid, to[1], from[0]});
    }
  }
  ~Children() {
    for (const Child& child : all_) ::close(child.requests);
    for (const Child& child : all_) ::waitpid(child.pid, nullptr, 0);
  }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  void send(std::size_t child) {
    const Request request{};
    require(::write(all_[child].requests, &request, sizeof request) == static_cast<ssize_t>(sizeof request),
            "a request was not taken");
  }
  void receive(std::size_t child) {
    Answer answer{};
    require(::read(all_[child].answers, &answer, sizeof answer) == static_cast<ssize_t>(sizeof answer),
            "no answer came");
  }

 private:
  std::vector<Child> all_;
};

template <class Run>
bench::Measured measure(const Arguments& arguments, Run&& run) {
  return bench::measure(
      arguments.budget,
      [&](std::int64_t n) {
        const auto start = Clock::now();
        run(n);
        return bench::nanoseconds_since(start);
      },
      [](double ns) { return ns; });
}

void round_trip(const Arguments& arguments) {
  Children children(1);
  bench::print(measure(arguments, [&](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      children.send(0);
      children.receive(0);
    }
  }));
}

/// As many in flight as pipes hold of both kinds.
void pipelined(const Arguments& arguments) {
  constexpr std::size_t kInFlight = 512;
  const auto count = static_cast<std::size_t>(arguments.ranks);
  Children children(arguments.ranks);
  bench::Measured measured = measure(arguments, [&](std::int64_t n) {
    for (std::int64_t run = 0; run < n; ++run) {
      for (std::size_t i = 0; i < arguments.tasks; ++i) {
        if (i >= kInFlight * count) children.receive(i % count);
        children.send(i % count);
      }
      const std::size_t open = std::min(arguments.tasks, kInFlight * count);
      for (std::size_t i = 0; i < open; ++i) children.receive(i % count);
    }
  });
  measured.median_ns /= static_cast<double>(arguments.tasks);
  bench::print(measured);
}

/// Processes that do nothing: started, and waited for.
void start(const Arguments& arguments) {
  std::vector<double> times;
  const auto begin = Clock::now();
  while (times.size() < 5 || Clock::now() - begin < arguments.budget) {
    const auto before = Clock::now();
    std::vector<pid_t> pids;
    for (int i = 0; i < arguments.ranks; ++i) {
      pid_t pid = -1;
      char name[] = "true";
      char* const words[] = {name, nullptr};
      require(::posix_spawnp(&pid, "true", nullptr, nullptr, words, environ) == 0, "no process");
      pids.push_back(pid);
    }
    for (const pid_t pid : pids) ::waitpid(pid, nullptr, 0);
    times.push_back(bench::nanoseconds_since(before));
  }
  bench::print({bench::median(times), static_cast<std::int64_t>(times.size())});
}

}  // namespace

int main(int argc, char** argv) {
  return bench::contend(argc, argv, {{"round_trip", round_trip}, {"pipelined", pipelined}, {"start", start}});
}
