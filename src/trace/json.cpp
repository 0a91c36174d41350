#include <set>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "trace/export.hpp"

namespace baton::trace {
namespace {

/// A JSON string. Texts of traces have no control characters.
std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

/// Processes are ranks; 0 is for what belongs to none.
std::uint64_t process_of(const Lane& lane) { return lane.rank == kNoRank ? 0 : std::uint64_t{lane.rank} + 1; }

double microseconds(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

class JsonWriter {
 public:
  JsonWriter(std::ostream& out, const Trace& trace) : out_(out), trace_(trace) {}

  void metadata(const char* name, std::uint64_t process, unsigned thread, const std::string& text) {
    line(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", name, process, thread,
                     json_string(text)));
  }
  void span(const Span& span) {
    const bool instant = span.length() == 0;
    line(fmt::format(
        R"({{"ph":"{}","name":{},"cat":"{}","pid":{},"tid":{},"ts":{:.3f},{}"args":{{"details":{},"place":{}}}}})",
        instant ? "i" : "X", json_string(label_of(trace_, span)), info_of(span.kind).name, process_of(span.lane),
        span.lane.lane, microseconds(span.begin),
        instant ? R"("s":"t",)" : fmt::format(R"("dur":{:.3f},)", microseconds(span.length())),
        json_string(details_of(trace_, span)), json_string(trace_.text(span.place))));
  }
  void flow(const Flow& flow, const char* name) {
    const auto end = [&](const char* phase, const Span& span, std::int64_t at, const char* more) {
      line(fmt::format(R"({{"ph":"{}","name":"{}","cat":"{}","id":{},"pid":{},"tid":{},"ts":{:.3f}{}}})", phase, name,
                       name, flows_, process_of(span.lane), span.lane.lane, microseconds(at), more));
    };
    ++flows_;
    end("s", trace_.spans[flow.from], flow.left, "");
    end("f", trace_.spans[flow.to], flow.arrived, R"(,"bp":"e")");
  }

 private:
  void line(const std::string& text) {
    out_ << (first_ ? "\n" : ",\n") << text;
    first_ = false;
  }

  std::ostream& out_;
  const Trace& trace_;
  bool first_ = true;
  std::uint64_t flows_ = 0;
};

}  // namespace

void write_json(std::ostream& out, const Trace& trace, const Analysis& analysis) {
  out << R"({"displayTimeUnit":"ns","traceEvents":[)";
  JsonWriter writer(out, trace);
  std::set<Lane> lanes;
  for (const Span& span : trace.spans) lanes.insert(span.lane);
  for (const Lane& lane : lanes) {
    writer.metadata("process_name", process_of(lane), lane.lane, name_of_rank(trace, lane.rank));
    writer.metadata("thread_name", process_of(lane), lane.lane, name_of_lane(trace, lane));
  }
  for (const Span& span : trace.spans) {
    if (span.kind != EventKind::edge && span.kind != EventKind::lane) writer.span(span);
  }
  for (const Flow& flow : analysis.notifies) writer.flow(flow, "notify");
  for (const Flow& flow : analysis.edges) writer.flow(flow, "edge");
  out << "\n]}\n";
}

}  // namespace baton::trace
