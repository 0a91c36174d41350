// Errors of many lines stay whole even if others write meanwhile.
#include "job/launch/output_merger.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "base/fail.hpp"

namespace baton::job {
namespace {

using namespace std::chrono_literals;

struct Pipe {
  UniqueFd reader;
  UniqueFd writer;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail_system("pipe2");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void write_to(const UniqueFd& pipe, std::string_view text) {
  ASSERT_EQ(::write(pipe.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

class Blocks : public testing::Test {
 protected:
  void start(OutputMerger::Settings settings, int output_fd) {
    settings.form = OutputForm::prefixed;
    settings.ranks = 2;
    settings.output_fd = output_fd;
    settings.error_fd = error_.writer.get();
    merger_.emplace(loop_, settings);
    for (int rank = 0; rank < 2; ++rank) {
      Pipe out = make_pipe();
      Pipe err = make_pipe();
      merger_->add(rank, std::move(out.reader), std::move(err.reader));
      out_[static_cast<std::size_t>(rank)] = std::move(out.writer);
      err_[static_cast<std::size_t>(rank)] = std::move(err.writer);
    }
  }

  /// Takes what has been written; returns what came out.
  std::string turn() {
    for (int i = 0; i < 4; ++i) {
      loop_.wait(Deadline::after(0ns));
      merger_->flush();
    }
    std::string text(4096, '\0');
    const ssize_t count = ::read(error_.reader.get(), text.data(), text.size());
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
  }

  Blocks() { ::fcntl(error_.reader.get(), F_SETFL, O_NONBLOCK); }

  Pipe error_ = make_pipe();
  Pipe other_ = make_pipe();
  EventLoop loop_;
  std::optional<OutputMerger> merger_;
  std::array<UniqueFd, 2> out_;
  std::array<UniqueFd, 2> err_;
};

TEST_F(Blocks, OfOneRankAreNotInterrupted) {
  start({.form = {}, .ranks = 0, .output_fd = 0, .error_fd = 0, .error_pause = 1h, .error_turn = 1h},
        other_.writer.get());
  write_to(err_[0], "Traceback:\n");
  EXPECT_EQ(turn(), "[0] Traceback:\n");
  write_to(err_[1], "other\n");
  EXPECT_EQ(turn(), "");
  write_to(err_[0], "  line 3\nValueError\n");
  EXPECT_EQ(turn(), "[0]   line 3\n[0] ValueError\n");
  err_[0].reset();  // the end of the rank ends its block
  EXPECT_EQ(turn(), "[1] other\n");
}

TEST_F(Blocks, AreNotInterruptedByStandardOutputInTheSamePlace) {
  start({.form = {}, .ranks = 0, .output_fd = 0, .error_fd = 0, .error_pause = 1h, .error_turn = 1h},
        error_.writer.get());
  write_to(err_[0], "first\n");
  EXPECT_EQ(turn(), "[0] first\n");
  write_to(out_[1], "other\n");
  write_to(out_[0], "own\n");
  EXPECT_EQ(turn(), "[0] own\n");
  write_to(err_[0], "last\n");
  EXPECT_EQ(turn(), "[0] last\n");
  err_[0].reset();
  EXPECT_EQ(turn(), "[1] other\n");
}

TEST_F(Blocks, EndWithAPause) {
  start({.form = {}, .ranks = 0, .output_fd = 0, .error_fd = 0, .error_pause = 1ns, .error_turn = 1h},
        other_.writer.get());
  write_to(err_[0], "a\n");
  EXPECT_EQ(turn(), "[0] a\n");
  write_to(err_[1], "b\n");
  EXPECT_EQ(turn(), "[1] b\n");
}

TEST_F(Blocks, OfARankThatNeverPausesEndWithItsTurn) {
  start({.form = {}, .ranks = 0, .output_fd = 0, .error_fd = 0, .error_pause = 1h, .error_turn = 1ns},
        other_.writer.get());
  write_to(err_[0], "a\n");
  write_to(err_[1], "b\n");
  std::string text = turn();
  for (int i = 0; i < 3; ++i) {
    write_to(err_[0], "more\n");
    text += turn();
  }
  EXPECT_NE(text.find("[1] b\n"), std::string::npos) << text;
}

TEST_F(Blocks, AreWholeAtTheEnd) {
  start({.form = {}, .ranks = 0, .output_fd = 0, .error_fd = 0, .error_pause = 1h, .error_turn = 1h},
        other_.writer.get());
  write_to(err_[1], "first\n");
  EXPECT_EQ(turn(), "[1] first\n");
  write_to(err_[0], "x\ny\n");
  write_to(err_[1], "last\n");
  merger_->begin_drain();
  EXPECT_EQ(turn(), "[1] last\n[0] x\n[0] y\n");
}

}  // namespace
}  // namespace baton::job
