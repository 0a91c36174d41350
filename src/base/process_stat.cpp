#include "base/process_stat.hpp"

#include <charconv>
#include <string>
#include <vector>

#include "base/text_file.hpp"

namespace baton {
namespace {

/// Fields are counted as in the manual page proc(5), which starts at 1; the state is the first after the name.
constexpr std::size_t kState = 3;
constexpr std::size_t kThreads = 20;
constexpr std::size_t kStartTime = 22;
constexpr std::size_t kExitCode = 52;

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

template <class Number>
bool read_number(std::string_view word, Number& value) {
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && stop == word.data() + word.size();
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view line) {
  // The name may hold anything, parentheses and spaces among it; the numbers after it hold neither.
  const auto name_end = line.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  const auto fields = split(line.substr(name_end + 1));
  const auto field = [&](std::size_t number) {
    return number - kState < fields.size() ? fields[number - kState] : std::string_view();
  };
  ProcessStat stat{};
  if (field(kState).size() != 1 || !read_number(field(kThreads), stat.threads) ||
      !read_number(field(kStartTime), stat.start_time)) {
    return std::nullopt;
  }
  stat.state = field(kState).front();
  // Kernels before 3.5 lack the exit code.
  if (!read_number(field(kExitCode), stat.exit_code)) stat.exit_code = 0;
  return stat;
}

std::optional<ProcessStat> read_process_stat(std::uint32_t pid) {
  const auto line = read_text_file("/proc/" + std::to_string(pid) + "/stat");
  return line ? parse_process_stat(*line) : std::nullopt;
}

}  // namespace baton
