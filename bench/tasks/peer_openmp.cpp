// Tasks of OpenMP with dependences, compiled with gcc for libgomp and with clang for libomp.
#include <omp.h>

#include "tasks/contender.hpp"

namespace {

using bench::Pattern;
using bench::PatternTask;

/// A dependence names its cell by the address alone.
std::vector<char> cells;

/// To OpenMP, writing is the same as updating.
void submit(const PatternTask& task) {
  char* const cell = cells.data();
  const PatternTask* const which = &task;
  char* const write = cell + task.write;
  if (task.range_count != 0) {
    char* const range = cell + task.range;
    const auto count = static_cast<int>(task.range_count);
#pragma omp task depend(iterator(int i = 0 : count), in : range[i]) depend(inout : *write)
    bench::body(*which);
    return;
  }
  char* read[PatternTask::kMostReads] = {};
  for (std::uint32_t i = 0; i < task.read_count; ++i) read[i] = cell + task.reads[i];
  switch (task.read_count) {
    case 0:
#pragma omp task depend(inout : *write)
      bench::body(*which);
      break;
    case 1:
#pragma omp task depend(in : *read[0]) depend(inout : *write)
      bench::body(*which);
      break;
    case 2:
#pragma omp task depend(in : *read[0], *read[1]) depend(inout : *write)
      bench::body(*which);
      break;
    case 3:
#pragma omp task depend(in : *read[0], *read[1], *read[2]) depend(inout : *write)
      bench::body(*which);
      break;
    case 4:
#pragma omp task depend(in : *read[0], *read[1], *read[2], *read[3]) depend(inout : *write)
      bench::body(*which);
      break;
    default:
#pragma omp task depend(in : *read[0], *read[1], *read[2], *read[3], *read[4]) depend(inout : *write)
      bench::body(*which);
  }
}

bench::Times run_once(const Pattern& pattern) {
  bench::Times times;
  for (const PatternTask& task : pattern.tasks) submit(task);
  times.all_submitted();
#pragma omp taskwait
  times.all_done();
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  int status = 1;
#pragma omp parallel
#pragma omp single
  status = bench::contend(argc, argv, [](const bench::Arguments& arguments) {
    if (omp_get_num_threads() < 2) throw std::runtime_error("OpenMP needs two threads: with one it has no tasks");
    const Pattern pattern = bench::pattern_named(arguments.pattern, arguments.tasks);
    cells.assign(pattern.cells, 0);
    bench::measure_pattern(arguments, pattern, run_once);
  });
  return status;
}
