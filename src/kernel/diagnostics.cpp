#include "kernel/diagnostics.hpp"

#include <algorithm>
#include <span>

namespace baton::kernel {
namespace {

constexpr std::size_t kErrorsShown = 5;
constexpr std::size_t kLinesShown = 40;
constexpr std::size_t kLineLength = 240;

bool has(std::string_view line, std::string_view words) { return line.find(words) != std::string_view::npos; }

bool is_error(std::string_view line) {
  // That the linker failed is known from what it said before.
  if (line.starts_with("collect2:") || has(line, "linker command failed")) return false;
  return has(line, ": error:") || has(line, ": fatal error:") || has(line, "undefined reference to");
}

/// Begins a message that is not an error: what belongs to it goes with it.
bool is_remark(std::string_view line) { return has(line, ": note:") || has(line, ": warning:"); }

/// The line of the source, and the marks below it.
bool is_excerpt(std::string_view line) { return line.starts_with(' ') || line.starts_with('\t'); }

/// One error: the way to it, its line, the excerpt of the source.
struct Block {
  bool of_author;
  std::vector<std::string_view> lines;
};

std::string shortened(std::string_view line) {
  if (line.size() <= kLineLength) return std::string(line);
  const std::size_t half = kLineLength / 2;
  return std::string(line.substr(0, half)) + " ... " + std::string(line.substr(line.size() - half));
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (end != 0) lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace

Diagnosis diagnose(std::string_view output, std::string_view source) {
  const std::vector<std::string_view> lines = split_lines(output);
  std::vector<Block> blocks;
  bool in_error = false;
  std::vector<std::string_view> way;  // lines before an error that lead from the author's file to it
  for (const std::string_view line : lines) {
    if (is_error(line)) {
      blocks.push_back({line.starts_with(source), std::move(way)});
      way.clear();
      blocks.back().lines.push_back(line);
      in_error = true;
    } else if (is_remark(line)) {
      way.clear();
      // In clang the way from the author's file follows the error.
      in_error = !blocks.empty() && has(line, ": note: in instantiation") && line.starts_with(source);
      if (in_error) blocks.back().lines.push_back(line);
    } else if (!is_excerpt(line)) {
      in_error = false;
      if (line.starts_with(source) && has(line, "required from")) way.push_back(line);
    } else if (in_error) {
      blocks.back().lines.push_back(line);
    }
  }
  std::stable_partition(blocks.begin(), blocks.end(), [](const Block& block) { return block.of_author; });
  Diagnosis diagnosis;
  diagnosis.errors = static_cast<int>(blocks.size());
  blocks.resize(std::min(blocks.size(), kErrorsShown));
  for (const Block& block : blocks) {
    for (const std::string_view line : block.lines) diagnosis.lines.push_back(shortened(line));
  }
  // No message that this function knows: a crash, a linker of another kind. The end says most.
  if (blocks.empty()) {
    for (const std::string_view line : std::span(lines).last(std::min(lines.size(), kLinesShown / 2))) {
      diagnosis.lines.push_back(shortened(line));
    }
  }
  diagnosis.lines.resize(std::min(diagnosis.lines.size(), kLinesShown));
  diagnosis.lines_cut = static_cast<int>(lines.size() - diagnosis.lines.size());
  return diagnosis;
}

}  // namespace baton::kernel
