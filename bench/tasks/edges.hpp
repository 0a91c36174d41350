// The edges of a pattern, for those who want them named: read after write, write after read, write after write.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tasks/patterns.hpp"

namespace bench {

/// Whom each task waits for. Nobody twice; those that others wait for already may be among them.
[[nodiscard]] inline std::vector<std::vector<std::uint32_t>> predecessors_of(const Pattern& pattern) {
  constexpr std::uint32_t kNobody = UINT32_MAX;
  struct Cell {
    std::uint32_t writer = kNobody;
    std::vector<std::uint32_t> readers;  // since then
  };
  std::vector<Cell> cells(pattern.cells);
  std::vector<std::vector<std::uint32_t>> result(pattern.tasks.size());
  for (std::uint32_t number = 0; number < pattern.tasks.size(); ++number) {
    const PatternTask& task = pattern.tasks[number];
    std::vector<std::uint32_t>& before = result[number];
    const auto read = [&](std::uint32_t index) {
      Cell& cell = cells[index];
      if (cell.writer != kNobody) before.push_back(cell.writer);
      cell.readers.push_back(number);
    };
    for (std::uint32_t i = 0; i < task.read_count; ++i) read(task.reads[i]);
    for (std::uint32_t i = 0; i < task.range_count; ++i) read(task.range + i);
    Cell& written = cells[task.write];
    // Readers wait for the writer before them, so the next writer need not.
    if (written.readers.empty() && written.writer != kNobody) before.push_back(written.writer);
    before.insert(before.end(), written.readers.begin(), written.readers.end());
    written.readers.clear();
    written.writer = number;
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    std::erase(before, number);
  }
  return result;
}

}  // namespace bench
