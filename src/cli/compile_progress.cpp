#include "cli/compile_progress.hpp"

#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>

namespace baton::cli {
namespace {

std::string describe(std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  return seconds < 1 ? fmt::format("{:.1f} ms", seconds * 1e3) : fmt::format("{:.1f} s", seconds);
}

}  // namespace

CompileProgress::Style CompileProgress::style_of_standard_error() {
  return ::isatty(STDERR_FILENO) != 0 ? Style::terminal : Style::lines;
}

void CompileProgress::draw(const std::string& source) const {
  if (style_ != Style::terminal) return;
  std::string line = fmt::format("\r[{}/{}]", done_, total_);
  if (hits_ > 0) line += fmt::format(" {} from the cache", hits_);
  if (failed_ > 0) line += fmt::format(" {} failed", failed_);
  fmt::print(stderr, "{}  {}\x1b[K", line, source);
  std::fflush(stderr);
}

void CompileProgress::started(const std::string& source) {
  const std::lock_guard guard(mutex_);
  draw(source);
}

void CompileProgress::succeeded(const std::string& source, const kernel::CompiledKernel& kernel) {
  const std::lock_guard guard(mutex_);
  ++done_;
  const bool hit = kernel.origin == kernel::Origin::cache;
  hits_ += hit ? 1 : 0;
  if (style_ == Style::lines) {
    fmt::print(stderr, "[{}/{}] {}: {} in {}\n", done_, total_, source, hit ? "from the cache" : "compiled",
               describe(kernel.duration));
  }
  if (!kernel.messages.empty()) {
    fmt::print(stderr, "{}{}", style_ == Style::terminal ? "\r\x1b[K" : "", kernel.messages);
  }
  draw(source);
}

void CompileProgress::failed() {
  const std::lock_guard guard(mutex_);
  ++done_;
  ++failed_;
  draw("");
}

void CompileProgress::finish() {
  const std::lock_guard guard(mutex_);
  if (style_ != Style::terminal) return;
  draw(fmt::format("{} compiled", done_ - hits_ - failed_));
  fmt::print(stderr, "\n");
}

}  // namespace baton::cli
