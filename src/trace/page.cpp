// The page: its text with the data of a trace in it. page.js reads what is written here.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trace/export.hpp"
#include "trace/tracks.hpp"

namespace baton::trace {

/// page.html with its style and its script.
extern const char* const kPage;

namespace {

constexpr std::string_view kDataMark = "<!--DATA-->";
constexpr std::string_view kHeadMark = "\"HEAD\"";
/// Events whose details have a text of their own; pages of more leave them out.
constexpr std::size_t kMostDetails = 300'000;
/// Bytes of base64 in one element.
constexpr std::size_t kBlockBytes = std::size_t{6} << 20U;

void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) to += static_cast<char>((value & 0x7fU) | 0x80U);
  to += static_cast<char>(value);
}

/// Three bytes as four letters.
void put_base64(std::string& to, std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (unsigned k = 0; k < 4; ++k) {
      to += i + k <= bytes.size() ? kLetters[(group >> (18U - 6U * k)) & 0x3fU] : '=';
    }
  }
}

/// A JSON text that may stand inside of a script.
std::string json_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  }
  return result + '"';
}

/// Texts, each once.
class Texts {
 public:
  std::uint64_t add(const std::string& text) {
    const auto [found, added] = numbers_.try_emplace(text, texts_.size());
    if (added) texts_.push_back(text);
    return found->second;
  }
  [[nodiscard]] std::string json() const {
    std::string result = "[";
    for (const std::string& text : texts_) result += (result.size() == 1 ? "" : ",") + json_text(text);
    return result + "]";
  }

 private:
  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::vector<std::string> texts_;
};

class PageData {
 public:
  PageData(const Trace& trace, const Analysis& analysis)
      : trace_(trace), tracks_(make_tracks(trace)), track_of_(trace.spans.size()) {
    const bool with_details = trace.spans.size() <= kMostDetails;
    for (std::size_t t = 0; t < tracks_.size(); ++t) {
      std::int64_t at = 0;
      for (const std::size_t i : tracks_[t].spans) {
        const Span& span = trace.spans[i];
        track_of_[i] = t;
        put_varint(bytes_, static_cast<std::uint64_t>(span.begin - at));
        put_varint(bytes_, static_cast<std::uint64_t>(span.length()));
        put_varint(bytes_, label_of_span(span));
        put_varint(bytes_, span.place);
        if (with_details) put_varint(bytes_, details_.add(details_of(trace, span)));
        at = span.end;
      }
    }
    for (const auto* flows : {&analysis.notifies, &analysis.edges}) {
      for (const Flow& flow : *flows) {
        put_varint(bytes_, track_of_[flow.from]);
        put_varint(bytes_, static_cast<std::uint64_t>(std::max<std::int64_t>(flow.left, 0)));
        put_varint(bytes_, track_of_[flow.to]);
        put_varint(bytes_, static_cast<std::uint64_t>(flow.arrived - std::max<std::int64_t>(flow.left, 0)));
      }
    }
    for (const PathPart& part : analysis.critical_path) {
      put_varint(bytes_, part.span ? track_of_[*part.span] : first_track_of(part.rank));
      put_varint(bytes_, static_cast<std::uint64_t>(part.begin));
      put_varint(bytes_, static_cast<std::uint64_t>(part.end - part.begin));
    }
    head_ = fmt::format(
        R"({{"length":{},"details":{},"labels":{},"classes":[{}],"places":{},"detailTexts":{},"notifies":{},"edges":{},"path":{},"tracks":{},"ranks":{}}})",
        trace.length, with_details ? 1 : 0, labels_.json(), fmt::join(classes_, ","), places(), details_.json(),
        analysis.notifies.size(), analysis.edges.size(), analysis.critical_path.size(), tracks(), ranks(analysis));
  }

  [[nodiscard]] const std::string& head() const noexcept { return head_; }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  /// What it is called and what it counts as.
  std::uint64_t label_of_span(const Span& span) {
    const auto number = labels_.add(label_of(trace_, span));
    if (number == classes_.size()) classes_.push_back(static_cast<int>(span.counts_as()));
    return number;
  }
  [[nodiscard]] std::size_t first_track_of(std::uint32_t rank) const {
    const auto found = std::ranges::find(tracks_, rank, [](const Track& track) { return track.lane.rank; });
    return found == tracks_.end() ? 0 : static_cast<std::size_t>(found - tracks_.begin());
  }
  [[nodiscard]] std::string places() const {
    std::string result = "[";
    for (const std::string& text : trace_.texts) result += (result.size() == 1 ? "" : ",") + json_text(text);
    return result + "]";
  }
  [[nodiscard]] std::string tracks() const {
    std::string result = "[";
    for (const Track& track : tracks_) {
      result += fmt::format("{}[{},{},{},{}]", result.size() == 1 ? "" : ",",
                            json_text(name_of_rank(trace_, track.lane.rank)),
                            json_text(name_of_lane(trace_, track.lane)), track.depth, track.spans.size());
    }
    return result + "]";
  }
  [[nodiscard]] std::string ranks(const Analysis& analysis) const {
    std::string result = "[";
    for (const auto& [rank, times] : analysis.ranks) {
      const auto most = std::ranges::max_element(times.waited_for, {}, [](const auto& entry) { return entry.second; });
      const std::string whom = most == times.waited_for.end() || most->second == 0 ? "-" : name_of_waited(most->first);
      result += fmt::format("{}[{},{},{},{},{},{},{},{}]", result.size() == 1 ? "" : ",",
                            json_text(name_of_rank(trace_, rank) + (times.died ? " (did not leave)" : "")), times.begin,
                            times.end, times.kernels, times.copies, times.waiting, times.idle, json_text(whom));
    }
    return result + "]";
  }
  [[nodiscard]] std::string name_of_waited(std::uint32_t rank) const {
    return rank == kNoRank ? "not known" : name_of_rank(trace_, rank);
  }

  const Trace& trace_;
  std::vector<Track> tracks_;
  std::vector<std::size_t> track_of_;  // by span
  Texts labels_;
  std::vector<int> classes_;  // by label
  Texts details_;
  std::string bytes_;
  std::string head_;
};

}  // namespace

void write_page(std::ostream& out, const Trace& trace, const Analysis& analysis, const std::string& title) {
  const PageData data(trace, analysis);
  std::string_view page = kPage;
  const auto before = [&](std::string_view mark) {
    const std::size_t at = page.find(mark);
    const std::string_view part = page.substr(0, at);
    page.remove_prefix(at + mark.size());
    return part;
  };
  out << before("<!--TITLE-->");
  for (const char c : title) out << (c == '<' || c == '>' || c == '&' ? '_' : c);
  out << before(kDataMark);
  const std::string_view bytes = data.bytes();
  for (std::size_t at = 0; at < bytes.size(); at += kBlockBytes) {
    std::string block;
    block.reserve(kBlockBytes * 4 / 3 + 4);
    put_base64(block, bytes.substr(at, kBlockBytes));
    out << "<script type=\"text/plain\" class=\"data\">" << block << "</script>\n";
  }
  out << before(kHeadMark) << data.head() << page;
}

}  // namespace baton::trace
