// What a chip adds to a trace.
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/inproc.hpp>
#include <baton/trace.hpp>

#include "base/trace_reader.hpp"

namespace baton::test {
namespace {

using testing::Each;
using testing::Field;
using testing::SizeIs;

std::vector<EventRecord> events_of(const std::string& file, EventKind kind) {
  std::vector<EventRecord> events;
  const TraceReader reader(file);
  reader.for_each([&](const EventRecord& event, std::uint32_t) {
    if (event.kind == kind) events.push_back(event);
  });
  return events;
}

/// A rank notifies a task of another rank's chip that waits for it.
void notify_a_task(const std::string& trace_file) {
  const Trace trace(trace_file);
  run_ranks(2, [](Domain me) {
    Signals go = me.signals("go", 4);
    Chip chip(me, {.clusters = 1});
    if (me.rank() == 0) {
      me.barrier();
      go.notify(1, 3);
      return;
    }
    chip.run([&](Graph& graph) {
      static_cast<void>(graph.submit_notification_wait(reinterpret_cast<std::int32_t*>(go.local()) + 3, 1));
      me.barrier();
    });
  });
}

TEST(Traced, TasksThatWaitForASignalAndWindowsThatAreMade) {
  const std::string file =
      (std::filesystem::temp_directory_path() / ("baton-traced-" + std::to_string(::getpid()) + ".trace")).string();
  std::vector<EventRecord> deferrals;
  // A notification that comes before the chip has looked at the task ends no wait.
  for (int attempt = 0; deferrals.empty() && attempt < 1000; ++attempt) {
    notify_a_task(file);
    deferrals = events_of(file, EventKind::deferral);
  }
  ASSERT_THAT(deferrals, SizeIs(1));
  const EventRecord& deferral = deferrals.front();
  EXPECT_EQ(deferral.rank, 1U);
  EXPECT_EQ(deferral.a, 1U);
  EXPECT_EQ(deferral.b, 3U);
  EXPECT_EQ(static_cast<std::int32_t>(deferral.c), 1);
  EXPECT_LT(deferral.begin, deferral.end);
  EXPECT_NE(deferral.place, 0U);
  const auto allocations = events_of(file, EventKind::allocation);
  ASSERT_THAT(allocations, SizeIs(2));
  EXPECT_THAT(allocations, Each(Field(&EventRecord::b, 2U)));
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace baton::test
