#include "job/launch/line_stream.hpp"

namespace baton::job {

void LineStream::take(std::string_view chunk, std::string& out) {
  if (form_ == OutputForm::raw) {
    out.append(chunk);
    return;
  }
  if (in_pieces_) {
    const std::size_t newline = chunk.find('\n');
    const std::size_t count = newline == std::string_view::npos ? chunk.size() : newline + 1;
    out.append(chunk.substr(0, count));
    in_pieces_ = newline == std::string_view::npos;
    chunk.remove_prefix(count);
  }
  for (std::size_t newline = 0; (newline = chunk.find('\n')) != std::string_view::npos;) {
    out.append(prefix_).append(rest_).append(chunk.substr(0, newline + 1));
    rest_.clear();
    chunk.remove_prefix(newline + 1);
  }
  rest_.append(chunk);
  if (rest_.size() > kWholeLineBytes) {
    out.append(prefix_).append(rest_);
    rest_.clear();
    in_pieces_ = true;
  }
}

void LineStream::finish(std::string& out) {
  break_line(out);
  if (rest_.empty()) return;
  out.append(prefix_).append(rest_).push_back('\n');
  rest_.clear();
}

void LineStream::break_line(std::string& out) {
  if (in_pieces_) out.push_back('\n');
  in_pieces_ = false;
}

}  // namespace baton::job
