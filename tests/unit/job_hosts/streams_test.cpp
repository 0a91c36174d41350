// Bytes from a pipe here to a pipe there, with no more on their way than there is room for.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <deque>

#include <baton/error.hpp>

#include "base/fail.hpp"
#include "job/hosts/link.hpp"
#include "job/hosts/pipe_feeder.hpp"
#include "job/hosts/stream_sender.hpp"

namespace baton::job {
namespace {

using namespace std::chrono_literals;

class Streams : public testing::Test {
 protected:
  Streams() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail_system("pipe2");
    source_reader_.reset(ends[0]);
    source_.reset(ends[1]);
    ::fcntl(source_.get(), F_SETFL, O_NONBLOCK);
    feeder_ = std::make_unique<PipeFeeder>(loop_, [this](std::size_t bytes) { acknowledged_ += bytes; });
    target_ = feeder_->take_reader();
    ::fcntl(target_.get(), F_SETFL, O_NONBLOCK);
  }

  void start_sender() {
    sender_ = std::make_unique<StreamSender>(
        loop_, std::move(source_reader_), [this](std::string_view bytes) { wire_.emplace_back(bytes); },
        [this] { wire_ended_ = true; });
  }

  /// Moves what is on the wire, and the room that came free.
  void move() {
    loop_.wait(Deadline::after(1ms));
    for (; !wire_.empty(); wire_.pop_front()) feeder_->add(wire_.front());
    if (wire_ended_) feeder_->end();
    sender_->add_room(std::exchange(acknowledged_, 0));
  }

  std::string read_target() {
    std::string text(1 << 20, '\0');
    const ssize_t count = ::read(target_.get(), text.data(), text.size());
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    target_ended_ = count == 0;
    return text;
  }

  EventLoop loop_;
  UniqueFd source_;
  UniqueFd source_reader_;
  UniqueFd target_;
  std::deque<std::string> wire_;
  bool wire_ended_ = false;
  bool target_ended_ = false;
  std::size_t acknowledged_ = 0;
  std::unique_ptr<PipeFeeder> feeder_;
  std::unique_ptr<StreamSender> sender_;
};

TEST_F(Streams, CarryEverythingToASlowReader) {
  start_sender();
  std::string text;
  for (int i = 0; text.size() < 1'000'000; ++i) text += std::to_string(i) + "\n";
  std::string_view rest = text;
  std::string got;
  while (!target_ended_) {
    if (!rest.empty()) {
      const ssize_t count = ::write(source_.get(), rest.data(), rest.size());
      if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
      if (rest.empty()) source_.reset();
    }
    move();
    got += read_target();
  }
  EXPECT_EQ(got, text);
}

TEST_F(Streams, AReaderThatDoesNotReadIsWaitedFor) {
  start_sender();
  const std::string text(4096, 'x');
  std::size_t written = 0;
  for (int i = 0; i < 500; ++i) {
    const ssize_t count = ::write(source_.get(), text.data(), text.size());
    if (count > 0) written += static_cast<std::size_t>(count);
    move();
  }
  // Two pipes and the room.
  EXPECT_LE(written, 3 * kStreamRoom);
  EXPECT_THROW(feeder_->add(std::string(2 * kStreamRoom, 'x')), Error);
}

TEST_F(Streams, DrainTakesWhatIsThereAndWaitsForNobody) {
  start_sender();
  ASSERT_EQ(::write(source_.get(), "last\n", 5), 5);
  sender_->drain();  // while source_ stays open
  move();
  EXPECT_EQ(read_target(), "last\n");
  EXPECT_FALSE(sender_->open());
  EXPECT_TRUE(wire_ended_);
}

TEST_F(Streams, AFileIsReadToItsEnd) {
  char name[] = "/tmp/baton-stream-XXXXXX";
  source_reader_.reset(::mkstemp(name));
  ::unlink(name);
  const std::string text(200'000, 'y');
  ASSERT_EQ(::write(source_reader_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::lseek(source_reader_.get(), 0, SEEK_SET);
  start_sender();
  std::string got;
  while (!target_ended_) {
    move();
    got += read_target();
  }
  EXPECT_EQ(got, text);
}

TEST(Link, NonsenseClosesIt) {
  EventLoop loop;
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd other(ends[1]);
  std::string why;
  Link link(
      loop, std::make_unique<PlainChannel>(UniqueFd(ends[0])), [](FrameReader&) {},
      [&](const std::string& reason) { why = reason; });
  ASSERT_EQ(::send(other.get(), "\xff\xff\xff\xff....", 8, 0), 8);
  loop.wait(Deadline::after(10s));
  EXPECT_FALSE(link.open());
  EXPECT_NE(why.find("makes no sense"), std::string::npos) << why;
}

}  // namespace
}  // namespace baton::job
