// A deadlock of ranks that share a process is told when it happens.
#include <unistd.h>

#include <optional>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/inproc.hpp>

#include "base/unique_fd.hpp"

namespace baton {
namespace {

/// Standard error goes to a pipe meanwhile.
class ErrorPipe {
 public:
  ErrorPipe() : before_(::dup(STDERR_FILENO)) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    read_.reset(ends[0]);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[1]);
  }
  ErrorPipe(const ErrorPipe&) = delete;
  ErrorPipe& operator=(const ErrorPipe&) = delete;
  ~ErrorPipe() { ::dup2(before_.get(), STDERR_FILENO); }

  /// Sleeps until `words` have come; returns all that came.
  [[nodiscard]] std::string read_until(const std::string& words) const {
    std::string text;
    while (text.find(words) == std::string::npos) {
      char chunk[4096];
      const ssize_t count = ::read(read_.get(), chunk, sizeof chunk);
      if (count <= 0) break;
      text.append(chunk, static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  UniqueFd before_;
  UniqueFd read_;
};

TEST(Deadlock, OfRanksInOneProcessIsToldWhileTheyWait) {
  constexpr int kRanks = 5;
  const ErrorPipe errors;
  std::string report;
  // Sleeps in a read, as far as Baton can tell for something outside: so the report is a warning, and proves wrong.
  std::optional<Signals> flags;
  std::jthread helper;
  run_ranks(kRanks, [&](Domain me) {
    Signals mine = me.signals("flags", 1);
    if (me.rank() == 0) {
      mine.notify(1, 0);
      flags = mine;
      helper = std::jthread([&] {
        report = errors.read_until("cannot go on: everyone who could end their waits is waiting, too");
        for (int rank = 0; rank < kRanks; ++rank) flags->notify(rank, 0, 2);
        flags.reset();
      });
    }
    mine.wait(0, WaitCmp::ge, 2);
  });
  helper.join();
  EXPECT_THAT(report, testing::HasSubstr("can go on: all of them wait for each other"));
  EXPECT_THAT(report, testing::HasSubstr("ranks 0,2-4: waiting for signal 0 of \"flags\" >= 2, for "));
  EXPECT_THAT(report, testing::HasSubstr("rank 1: waiting for signal 0 of \"flags\" >= 2, for "));
  EXPECT_THAT(report, testing::HasSubstr("deadlock_test.cpp:"));
}

}  // namespace
}  // namespace baton
