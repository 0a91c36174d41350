#include "kernel/manifest.hpp"

#include <charconv>

#include <fmt/format.h>

namespace baton::kernel {
namespace {

/// Branches of a source tree that keep their libraries apart; more would make every lookup read a longer file.
constexpr int kCompilations = 4;

std::string_view take_until(std::string_view& text, char end) {
  const auto at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return taken;
}

template <class Number>
bool take(std::string_view& line, Number& value) {
  const std::string_view word = take_until(line, ' ');
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && stop == end;
}

bool take(std::string_view& line, ContentHash& value) {
  const auto hash = ContentHash::from_hex(take_until(line, ' '));
  if (hash) value = *hash;
  return hash.has_value();
}

}  // namespace

std::string write_compilation(const Compilation& compilation) {
  fmt::memory_buffer out;
  fmt::format_to(std::back_inserter(out), "{} {} {} {}\n", compilation.included.size(), compilation.library_bytes,
                 compilation.library_hash.hex(), compilation.library);
  for (const HashedFile& file : compilation.included) {
    fmt::format_to(std::back_inserter(out), "{} {} {} {} {} {} {}\n", file.stamp.size, file.stamp.modified_ns,
                   file.stamp.changed_ns, file.stamp.inode, file.stamp.device, file.hash.hex(), file.path);
  }
  return fmt::to_string(out);
}

std::optional<Compilation> take_compilation(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  Compilation compilation;
  std::size_t count = 0;
  std::string_view line = take_until(text, '\n');
  if (!take(line, count) || !take(line, compilation.library_bytes) || !take(line, compilation.library_hash)) {
    return std::nullopt;
  }
  compilation.library = line;
  for (; count > 0 && !text.empty(); --count) {
    line = take_until(text, '\n');
    HashedFile file;
    if (!take(line, file.stamp.size) || !take(line, file.stamp.modified_ns) || !take(line, file.stamp.changed_ns) ||
        !take(line, file.stamp.inode) || !take(line, file.stamp.device) || !take(line, file.hash)) {
      return std::nullopt;
    }
    file.path = line;
    compilation.included.push_back(std::move(file));
  }
  if (count > 0) return std::nullopt;
  return compilation;
}

std::string with_compilation(const Compilation& newest, std::string_view before) {
  std::string manifest = write_compilation(newest);
  for (int count = 1; count < kCompilations;) {
    const auto older = take_compilation(before);
    if (!older) break;
    if (older->library == newest.library) continue;
    manifest += write_compilation(*older);
    ++count;
  }
  return manifest;
}

}  // namespace baton::kernel
