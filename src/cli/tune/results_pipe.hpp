// How the ranks of `baton tune` tell what they measured, while they measure.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.hpp"
#include "cli/tune/measurement.hpp"

namespace baton::cli {

/// A pipe that other processes open by a name, as long as the object lives. A thread reads it. No file is made, so none
/// stays behind.
class ResultsPipe {
 public:
  /// `arrived(count)` is called on the thread for each measurement.
  explicit ResultsPipe(std::function<void(std::size_t count)> arrived);
  ResultsPipe(const ResultsPipe&) = delete;
  ResultsPipe& operator=(const ResultsPipe&) = delete;
  ~ResultsPipe();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// After the writers have ended: all that they wrote.
  [[nodiscard]] std::vector<Measurement> finish();

 private:
  void read_lines();

  std::function<void(std::size_t)> arrived_;
  UniqueFd in_;
  UniqueFd out_;
  std::string path_;
  std::vector<Measurement> measurements_;
  std::thread reader_;
};

}  // namespace baton::cli
