// The least that tasks can cost: somebody knows a right order already, and calls one after the other.
#include "tasks/contender.hpp"

int main(int argc, char** argv) {
  return bench::contend(argc, argv, [](const bench::Arguments& arguments) {
    const bench::Pattern pattern = bench::pattern_named(arguments.pattern, arguments.tasks);
    bench::measure_pattern(arguments, pattern, [](const bench::Pattern& what) {
      bench::Times times;
      times.all_submitted();
      for (const bench::PatternTask& task : what.tasks) bench::body(task);
      times.all_done();
      return times;
    });
  });
}
