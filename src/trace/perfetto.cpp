// TrackEvent packets. Numbers of fields are those of perfetto's protos/perfetto/trace/*.proto, which are stable.
#include <map>
#include <set>
#include <unordered_map>

#include "trace/export.hpp"
#include "trace/tracks.hpp"

namespace baton::trace {
namespace {

/// A protobuf message that is being written.
class Message {
 public:
  void number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3U);
    varint(value);
  }
  void fixed64(std::uint32_t field, std::uint64_t value) {
    varint(field << 3U | 1U);
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }
  void text(std::uint32_t field, std::string_view value) {
    varint(field << 3U | 2U);
    varint(value.size());
    bytes_ += value;
  }
  void message(std::uint32_t field, const Message& value) { text(field, value.bytes_); }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) bytes_ += static_cast<char>((value & 0x7fU) | 0x80U);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

// Fields.
constexpr std::uint32_t kTracePacket = 1;
constexpr std::uint32_t kTimestamp = 8;
constexpr std::uint32_t kSequence = 10;
constexpr std::uint32_t kTrackEvent = 11;
constexpr std::uint32_t kInternedData = 12;
constexpr std::uint32_t kSequenceFlags = 13;
constexpr std::uint32_t kTrackDescriptor = 60;
// TrackDescriptor
constexpr std::uint32_t kUuid = 1;
constexpr std::uint32_t kName = 2;
constexpr std::uint32_t kParent = 5;
// TrackEvent
constexpr std::uint32_t kCategories = 22;
constexpr std::uint32_t kType = 9;
constexpr std::uint32_t kNameIid = 10;
constexpr std::uint32_t kTrackUuid = 11;
constexpr std::uint32_t kFlowIds = 47;
constexpr std::uint32_t kAnnotations = 4;
// DebugAnnotation
constexpr std::uint32_t kAnnotationName = 10;
constexpr std::uint32_t kAnnotationText = 6;
// InternedData, EventName
constexpr std::uint32_t kEventNames = 2;
constexpr std::uint32_t kIid = 1;
constexpr std::uint32_t kInternedName = 2;

enum EventType : std::uint64_t { kBegin = 1, kEnd = 2, kInstant = 3 };
constexpr std::uint64_t kStateCleared = 1;
constexpr std::uint64_t kNeedsState = 2;
constexpr std::uint64_t kOneSequence = 1;

class PacketWriter {
 public:
  PacketWriter(std::ostream& out, const Trace& trace, const Analysis& analysis) : out_(out), trace_(trace) {
    std::uint64_t id = 0;
    for (const auto* flows : {&analysis.notifies, &analysis.edges}) {
      for (const Flow& flow : *flows) {
        ++id;
        flows_[flow.from].push_back(id);
        flows_[flow.to].push_back(id);
      }
    }
  }

  void write() {
    std::map<std::uint32_t, std::uint64_t> ranks;
    std::map<Lane, std::uint64_t> lanes;
    std::uint64_t uuid = 0;
    for (const Track& track : make_tracks(trace_)) {
      if (!ranks.contains(track.lane.rank))
        describe(ranks[track.lane.rank] = ++uuid, name_of_rank(trace_, track.lane.rank), 0);
      if (!lanes.contains(track.lane)) {
        describe(lanes[track.lane] = ++uuid, name_of_lane(trace_, track.lane), ranks[track.lane.rank]);
      }
      std::uint64_t row = lanes[track.lane];
      // Perfetto nests what is on one track; what only overlaps has a track of its own.
      if (track.depth != 0) describe(row = ++uuid, name_of_lane(trace_, track.lane), ranks[track.lane.rank]);
      for (const std::size_t i : track.spans) span(i, row);
    }
  }

 private:
  void packet(Message& packet) {
    packet.number(kSequence, kOneSequence);
    packet.number(kSequenceFlags, first_ ? kStateCleared | kNeedsState : kNeedsState);
    first_ = false;
    Message file;
    file.message(kTracePacket, packet);
    out_ << file.bytes();
  }
  void describe(std::uint64_t uuid, const std::string& name, std::uint64_t parent) {
    Message track;
    track.number(kUuid, uuid);
    track.text(kName, name);
    if (parent != 0) track.number(kParent, parent);
    Message descriptor;
    descriptor.message(kTrackDescriptor, track);
    packet(descriptor);
  }
  void span(std::size_t index, std::uint64_t track) {
    const Span& span = trace_.spans[index];
    Message begin;
    begin.number(kTimestamp, static_cast<std::uint64_t>(span.begin));
    Message event;
    event.number(kType, span.length() == 0 ? kInstant : kBegin);
    event.number(kTrackUuid, track);
    event.text(kCategories, info_of(span.kind).name);
    const std::string label = label_of(trace_, span);
    const auto [name, added] = names_.try_emplace(label, names_.size() + 1);
    event.number(kNameIid, name->second);
    annotate(event, "details", details_of(trace_, span));
    annotate(event, "place", std::string(trace_.text(span.place)));
    if (const auto flows = flows_.find(index); flows != flows_.end()) {
      for (const std::uint64_t id : flows->second) event.fixed64(kFlowIds, id);
    }
    begin.message(kTrackEvent, event);
    if (added) {
      Message entry;
      entry.number(kIid, name->second);
      entry.text(kInternedName, label);
      Message interned;
      interned.message(kEventNames, entry);
      begin.message(kInternedData, interned);
    }
    packet(begin);
    if (span.length() == 0) return;
    Message end;
    end.number(kTimestamp, static_cast<std::uint64_t>(span.end));
    Message end_event;
    end_event.number(kType, kEnd);
    end_event.number(kTrackUuid, track);
    end.message(kTrackEvent, end_event);
    packet(end);
  }
  static void annotate(Message& event, std::string_view name, const std::string& text) {
    if (text.empty()) return;
    Message annotation;
    annotation.text(kAnnotationName, name);
    annotation.text(kAnnotationText, text);
    event.message(kAnnotations, annotation);
  }

  std::ostream& out_;
  const Trace& trace_;
  std::unordered_map<std::size_t, std::vector<std::uint64_t>> flows_;
  std::unordered_map<std::string, std::uint64_t> names_;
  bool first_ = true;
};

}  // namespace

void write_perfetto(std::ostream& out, const Trace& trace, const Analysis& analysis) {
  PacketWriter(out, trace, analysis).write();
}

}  // namespace baton::trace
