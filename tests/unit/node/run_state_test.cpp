// Which of several failures a run throws, and who is told of its end.
#include "node/run_state.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace baton::node {
namespace {

std::string cause_of(const RunState& run) {
  try {
    if (const auto cause = run.root_cause()) std::rethrow_exception(cause);
  } catch (const Error& error) {
    return error.message();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(RunState, ThrowsTheFailureFromWhichOthersFollow) {
  RunState run(1, Place::here());
  EXPECT_EQ(cause_of(run), "");
  run.failures.push_back({Code::peer_died, "a peer died", {}});
  EXPECT_EQ(cause_of(run), "a peer died");
  run.failures.push_back({Code::wait_timeout, "a wait took too long", {}});
  run.thrown = std::make_exception_ptr(std::runtime_error("the author gave up"));
  EXPECT_EQ(cause_of(run), "the author gave up");
  run.failures.push_back({Code::rank_failed, "chip 1 died", {}});
  EXPECT_EQ(cause_of(run), "chip 1 died");
}

TEST(RunState, TellsItsEndToThoseWhoWait) {
  RunState run(1, Place::here());
  EXPECT_FALSE(run.finished());
  EXPECT_FALSE(run.wait_for(std::chrono::nanoseconds(1)));
  std::thread other([&] { run.finish(std::make_exception_ptr(1)); });
  run.wait();
  other.join();
  EXPECT_TRUE(run.finished());
  EXPECT_TRUE(run.result());
}

}  // namespace
}  // namespace baton::node
