#include "job/frames.hpp"

#include "base/fail.hpp"

namespace baton::job {

FrameWriter::FrameWriter(FrameKind kind) { put(std::uint32_t{0}).put(static_cast<std::uint32_t>(kind)); }

FrameWriter& FrameWriter::put_text(std::string_view text) {
  return put(static_cast<std::uint32_t>(text.size())).put_rest(text);
}

FrameWriter& FrameWriter::put_texts(const std::vector<std::string>& texts) {
  put(static_cast<std::uint32_t>(texts.size()));
  for (const std::string& text : texts) put_text(text);
  return *this;
}

FrameWriter& FrameWriter::put_rest(std::string_view bytes) {
  bytes_.append(bytes);
  return *this;
}

std::string FrameWriter::finish() {
  const std::size_t body = bytes_.size() - kFrameHeader;
  if (body > kMaxFrameBody) {
    fail(Code::invalid_argument, "a message of {} bytes is more than the {} that another host takes", body,
         kMaxFrameBody);
  }
  for (std::size_t i = 0; i < sizeof(std::uint32_t); ++i) bytes_[i] = static_cast<char>(body >> (8 * i) & 0xff);
  return std::move(bytes_);
}

std::string_view FrameReader::take(std::size_t bytes) {
  if (bytes > body_.size()) {
    fail(Code::protocol, "a frame of kind {} ends where {} more bytes should come", static_cast<std::uint32_t>(kind_),
         bytes - body_.size());
  }
  const std::string_view taken = body_.substr(0, bytes);
  body_.remove_prefix(bytes);
  return taken;
}

std::vector<std::string> FrameReader::get_texts() {
  // Not reserved: the number may be anything, the texts themselves cannot.
  std::vector<std::string> texts;
  for (auto left = get<std::uint32_t>(); left > 0; --left) texts.push_back(get_text());
  return texts;
}

std::string_view FrameReader::get_rest() noexcept { return std::exchange(body_, {}); }

void FrameReader::expect_end() const {
  if (!body_.empty()) {
    fail(Code::protocol, "a frame of kind {} has {} bytes too many", static_cast<std::uint32_t>(kind_), body_.size());
  }
}

std::optional<FrameReader> FrameAssembler::next() {
  const std::string_view here = std::string_view(buffer_).substr(begin_);
  if (here.size() >= kFrameHeader) {
    FrameReader header(FrameKind{}, here.substr(0, kFrameHeader));
    const auto body = header.get<std::uint32_t>();
    const auto kind = static_cast<FrameKind>(header.get<std::uint32_t>());
    if (body > kMaxFrameBody) {
      fail(Code::protocol, "a frame claims {} bytes; {} are the most", body, kMaxFrameBody);
    }
    if (here.size() - kFrameHeader >= body) {
      begin_ += kFrameHeader + body;
      return FrameReader(kind, here.substr(kFrameHeader, body));
    }
  }
  buffer_.erase(0, begin_);
  begin_ = 0;
  return std::nullopt;
}

}  // namespace baton::job
