#include "chip/cores/sim/printed_text.hpp"

namespace baton::chip {
namespace {

std::FILE* file_of(PrintedText::Stream stream) { return stream == PrintedText::Stream::output ? stdout : stderr; }

/// In one piece, and at once, whatever the standard library would keep for a pipe. The program's own text stays in
/// order with it.
void show(PrintedText::Stream stream, const std::string& lines) {
  std::FILE* const file = file_of(stream);
  ::flockfile(file);
  std::fwrite(lines.data(), 1, lines.size(), file);
  std::fflush(file);
  ::funlockfile(file);
}

}  // namespace

void PrintedText::add(Stream stream, std::string_view text, std::string_view origin) {
  std::string& pending = pending_[static_cast<std::size_t>(stream)];
  std::string lines;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines.append(origin).append(pending).append(text.substr(0, end + 1));
    pending.clear();
    text.remove_prefix(end + 1);
  }
  pending.append(text);
  if (!lines.empty()) show(stream, lines);
}

void PrintedText::finish(std::string_view origin) {
  for (const Stream stream : {Stream::output, Stream::error}) {
    if (!pending_[static_cast<std::size_t>(stream)].empty()) add(stream, "\n", origin);
  }
}

}  // namespace baton::chip
