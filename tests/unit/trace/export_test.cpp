#include "trace/export.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "made_trace.hpp"
#include "trace/tracks.hpp"

namespace baton::trace {
namespace {

Trace two_ranks() {
  MadeTrace made;
  const Text window = made.text("a \"quoted\" name </script>");
  made.wait(0, 5, 92, window, 1);
  made.notify(1, 90, window, 0, 1);
  made.task(1, 0, 1, 0, 80, made.text("slow"));
  made.task(1, 0, 2, 82, 89, made.text("next"));
  made.edge(1, 2, 1, made.text("x"));
  return made.done();
}

TEST(Json, IsJsonWithSpansAndArrows) {
  const Trace trace = two_ranks();
  std::ostringstream out;
  write_json(out, trace, analyse(trace));
  const auto json = nlohmann::json::parse(out.str());
  std::map<std::string, int> phases;
  for (const auto& event : json["traceEvents"]) ++phases[event["ph"].get<std::string>()];
  EXPECT_EQ(phases["X"], 3);
  EXPECT_EQ(phases["i"], 1);
  EXPECT_EQ(phases["s"], 2);
  EXPECT_EQ(phases["f"], 2);
}

TEST(Page, HasItsDataAndNothingFromElsewhere) {
  const Trace trace = two_ranks();
  std::ostringstream out;
  write_page(out, trace, analyse(trace), "a title");
  const std::string page = out.str();
  EXPECT_NE(page.find("<title>a title</title>"), std::string::npos);
  EXPECT_NE(page.find("class=\"data\""), std::string::npos);
  EXPECT_EQ(page.find("<!--DATA-->"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
  // A text of the trace cannot end the script.
  EXPECT_EQ(page.find("name </script>"), std::string::npos);
  const std::size_t head = page.find("const HEAD = ") + 13;
  const auto json = nlohmann::json::parse(page.substr(head, page.find(";\n", head) - head));
  EXPECT_EQ(json["tracks"].size(), 3U);
  EXPECT_EQ(json["notifies"], 1);
  EXPECT_EQ(json["edges"], 1);
}

TEST(Perfetto, IsNotEmptyAndHasTheNames) {
  const Trace trace = two_ranks();
  std::ostringstream out;
  write_perfetto(out, trace, analyse(trace));
  EXPECT_NE(out.str().find("slow"), std::string::npos);
  EXPECT_NE(out.str().find("rank 1"), std::string::npos);
}

TEST(Tracks, InOneRowNothingOverlaps) {
  MadeTrace made;
  made.add(EventKind::collective, 0, 0, 100);
  made.add(EventKind::reach, 0, 10, 20);
  made.add(EventKind::reach, 0, 20, 50);
  made.add(EventKind::put, 0, 30, 40);
  const std::vector<Track> tracks = make_tracks(made.done());
  ASSERT_EQ(tracks.size(), 3U);
  EXPECT_EQ(tracks[0].spans.size(), 1U);
  EXPECT_EQ(tracks[1].spans.size(), 2U);
  EXPECT_EQ(tracks[2].spans.size(), 1U);
}

}  // namespace
}  // namespace baton::trace
