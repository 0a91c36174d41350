// Task graphs by what their tasks read and write: the same for everybody who is measured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// A task reads some cells and writes one. Cells are numbered; a range of them may be read as a whole.
struct PatternTask {
  static constexpr int kMostReads = 5;
  std::uint32_t reads[kMostReads];
  std::uint32_t read_count = 0;
  /// The cells [range, range + range_count), read besides.
  std::uint32_t range = 0;
  std::uint32_t range_count = 0;
  std::uint32_t write = 0;
  /// Whether it also reads what it writes.
  bool update = false;
};

struct Pattern {
  std::uint32_t cells = 0;
  std::vector<PatternTask> tasks;
};

/// Each task waits for the one before.
inline Pattern chain(std::size_t tasks) {
  Pattern pattern{.cells = 1, .tasks = std::vector<PatternTask>(tasks)};
  for (PatternTask& task : pattern.tasks) task.update = true;
  return pattern;
}

/// No task waits for any.
inline Pattern independent(std::size_t tasks) {
  Pattern pattern{.cells = static_cast<std::uint32_t>(tasks), .tasks = std::vector<PatternTask>(tasks)};
  for (std::uint32_t i = 0; i < pattern.cells; ++i) pattern.tasks[i].write = i;
  return pattern;
}

/// One task, 64 that wait for it, one that waits for all of those, and again.
inline Pattern fan(std::size_t tasks) {
  constexpr std::uint32_t kWidth = 64;
  Pattern pattern{.cells = kWidth + 1, .tasks = {}};
  while (pattern.tasks.size() < tasks) {
    PatternTask source;
    source.write = kWidth;
    source.update = true;
    pattern.tasks.push_back(source);
    for (std::uint32_t i = 0; i < kWidth; ++i) {
      PatternTask middle;
      middle.reads[middle.read_count++] = kWidth;
      middle.write = i;
      pattern.tasks.push_back(middle);
    }
    PatternTask sink;
    sink.range = 0;
    sink.range_count = kWidth;
    sink.write = kWidth;
    sink.update = true;
    pattern.tasks.push_back(sink);
  }
  pattern.tasks.resize(tasks);
  return pattern;
}

/// The tiles of a Cholesky factorisation.
inline Pattern cholesky(std::size_t tasks) {
  std::uint32_t tiles = 1;
  while (static_cast<std::size_t>(tiles) * (tiles + 1) * (tiles + 2) / 6 < tasks) ++tiles;
  Pattern pattern{.cells = tiles * tiles, .tasks = {}};
  const auto cell = [&](std::uint32_t row, std::uint32_t column) { return row * tiles + column; };
  const auto add = [&](std::initializer_list<std::uint32_t> reads, std::uint32_t write) {
    PatternTask task;
    for (const std::uint32_t read : reads) task.reads[task.read_count++] = read;
    task.write = write;
    task.update = true;
    pattern.tasks.push_back(task);
  };
  for (std::uint32_t k = 0; k < tiles; ++k) {
    add({}, cell(k, k));
    for (std::uint32_t i = k + 1; i < tiles; ++i) add({cell(k, k)}, cell(i, k));
    for (std::uint32_t i = k + 1; i < tiles; ++i) {
      for (std::uint32_t j = k + 1; j < i; ++j) add({cell(i, k), cell(j, k)}, cell(i, j));
      add({cell(i, k)}, cell(i, i));
    }
  }
  pattern.tasks.resize(tasks);
  return pattern;
}

/// Three neighbours of one step make one cell of the next.
inline Pattern stencil(std::size_t tasks) {
  constexpr std::uint32_t kWidth = 256;
  Pattern pattern{.cells = 2 * kWidth, .tasks = {}};
  for (std::uint32_t step = 0; pattern.tasks.size() < tasks; ++step) {
    const std::uint32_t from = step % 2 * kWidth;
    const std::uint32_t to = kWidth - from;
    for (std::uint32_t i = 0; i < kWidth; ++i) {
      PatternTask task;
      if (i > 0) task.reads[task.read_count++] = from + i - 1;
      task.reads[task.read_count++] = from + i;
      if (i + 1 < kWidth) task.reads[task.read_count++] = from + i + 1;
      task.write = to + i;
      pattern.tasks.push_back(task);
    }
  }
  pattern.tasks.resize(tasks);
  return pattern;
}

/// One to five inputs, all different, and one output, among 1,024 cells.
inline Pattern random_graph(std::size_t tasks) {
  constexpr std::uint32_t kCells = 1024;
  Pattern pattern{.cells = kCells, .tasks = std::vector<PatternTask>(tasks)};
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  for (PatternTask& task : pattern.tasks) {
    task.write = below(kCells);
    const std::uint32_t count = 1 + below(PatternTask::kMostReads);
    while (task.read_count < count) {
      const std::uint32_t read = below(kCells);
      const std::span known(task.reads, task.read_count);
      if (read != task.write && std::ranges::find(known, read) == known.end()) task.reads[task.read_count++] = read;
    }
  }
  return pattern;
}

inline Pattern pattern_named(const std::string& name, std::size_t tasks) {
  if (name == "chain") return chain(tasks);
  if (name == "independent") return independent(tasks);
  if (name == "fan") return fan(tasks);
  if (name == "cholesky") return cholesky(tasks);
  if (name == "stencil") return stencil(tasks);
  if (name == "random") return random_graph(tasks);
  throw std::invalid_argument("no pattern '" + name + "'");
}

}  // namespace bench
