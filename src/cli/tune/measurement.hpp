// How long each algorithm takes, measured by the ranks of a job.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "collectives/table_file.hpp"

namespace baton::cli {

/// What is measured, on one number of ranks.
struct TuneGrid {
  std::vector<collectives::Operation> operations;
  std::vector<std::size_t> sizes;      // bytes of a rank's whole contribution
  std::chrono::nanoseconds budget{0};  // of one algorithm for one size
};

struct Measurement {
  collectives::Operation operation = collectives::Operation::barrier;
  int ranks = 0;
  collectives::Location location = collectives::Location::in_windows;
  std::size_t bytes = 0;
  Algorithm algorithm = Algorithm::automatic;
  double microseconds = 0;
};

/// How many measurements one job makes.
[[nodiscard]] std::size_t measurement_count(const TuneGrid& grid);

/// Run by every rank of the job that it joins: rank 0 writes a line to `results` for each measurement.
void measure_as_rank(const TuneGrid& grid, const std::string& results);
/// Such a line; nothing if it is something else.
[[nodiscard]] std::optional<Measurement> parse_measurement(const std::string& line);

}  // namespace baton::cli
