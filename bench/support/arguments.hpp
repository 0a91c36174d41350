// The command line that every measuring program understands.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bench {

struct Arguments {
  /// What to measure; each program names its own cases.
  std::string operation;
  /// How to do it, where a program knows several ways.
  std::string method;
  std::size_t bytes = 8;
  /// Rows and columns of a square matrix.
  int side = 64;
  /// A graph of tasks, and how many of them.
  std::string pattern = "chain";
  std::size_t tasks = 100'000;
  /// Tokens of each rank.
  std::size_t tokens = 128;
  /// How long each task works.
  std::chrono::nanoseconds work{0};
  /// What stays in use while something else is measured.
  std::size_t live = 0;
  /// Ranks, for programs that start them themselves; the others learn it from their launcher.
  int ranks = 2;
  /// Of a GPU: cores that share a multiprocessor.
  int share = 1;
  /// How long the timed part should last.
  std::chrono::nanoseconds budget = std::chrono::milliseconds(300);
  /// After this many seconds the process ends itself, whatever it waits for.
  unsigned limit_seconds = 60;
};

[[nodiscard]] inline Arguments parse_arguments(int argc, char** argv) {
  Arguments result;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) throw std::invalid_argument(std::string(name) + " needs a value");
    const std::string value = argv[i + 1];
    if (name == "--operation")
      result.operation = value;
    else if (name == "--method")
      result.method = value;
    else if (name == "--bytes")
      result.bytes = std::stoull(value);
    else if (name == "--side")
      result.side = std::stoi(value);
    else if (name == "--pattern")
      result.pattern = value;
    else if (name == "--tasks")
      result.tasks = std::stoull(value);
    else if (name == "--tokens")
      result.tokens = std::stoull(value);
    else if (name == "--work-ns")
      result.work = std::chrono::nanoseconds(std::stoll(value));
    else if (name == "--live")
      result.live = std::stoull(value);
    else if (name == "--ranks")
      result.ranks = std::stoi(value);
    else if (name == "--share")
      result.share = std::stoi(value);
    else if (name == "--budget-ms")
      result.budget = std::chrono::milliseconds(std::stoll(value));
    else if (name == "--limit-s")
      result.limit_seconds = static_cast<unsigned>(std::stoul(value));
    else
      throw std::invalid_argument("unknown argument " + std::string(name));
  }
  return result;
}

}  // namespace bench
