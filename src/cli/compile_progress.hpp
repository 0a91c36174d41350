// What `baton compile` says while it works.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

#include "kernel/compile.hpp"

namespace baton::cli {

/// One line that changes, on a terminal; one line for each kernel, elsewhere. Any thread.
class CompileProgress {
 public:
  enum class Style { terminal, lines };

  CompileProgress(std::size_t total, Style style) : total_(total), style_(style) {}

  void started(const std::string& source);
  void succeeded(const std::string& source, const kernel::CompiledKernel& kernel);
  void failed();
  /// Ends the line.
  void finish();

  /// Terminal if standard error is one.
  [[nodiscard]] static Style style_of_standard_error();

 private:
  void draw(const std::string& source) const;

  const std::size_t total_;
  const Style style_;
  std::mutex mutex_;
  // Under the mutex.
  std::size_t done_ = 0;
  std::size_t hits_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace baton::cli
