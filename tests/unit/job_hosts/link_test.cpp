// What the other side said before it went is heard, even if it went while something was sent to it.
#include "job/hosts/link.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "base/fail.hpp"
#include "base/unique_fd.hpp"
#include "job/rank_messages.hpp"

namespace baton::job {
namespace {

class LinkTest : public testing::Test {
 protected:
  LinkTest() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail_system("socketpair");
    peer_.reset(ends[0]);
    link_ = std::make_unique<Link>(
        loop_, std::make_unique<PlainChannel>(UniqueFd(ends[1])),
        [this](FrameReader& frame) { heard_.emplace_back(decode_record(frame).bytes); },
        [this](const std::string& why) { heard_.push_back(why); });
  }
  ~LinkTest() override { link_.reset(); }

  static std::string frame_of(std::string_view bytes) {
    return encode(RecordPart{.sequence = 0, .rank = 0, .last = true, .bytes = bytes});
  }
  void peer_says(std::string_view bytes) {
    const std::string frame = frame_of(bytes);
    EXPECT_EQ(::send(peer_.get(), frame.data(), frame.size(), MSG_NOSIGNAL), static_cast<ssize_t>(frame.size()));
  }
  void run_until_closed() {
    const auto limit = Deadline::after(std::chrono::seconds(10));
    while (link_->open() && !limit.passed()) loop_.wait(limit);
  }

  EventLoop loop_;
  UniqueFd peer_;
  std::unique_ptr<Link> link_;
  std::vector<std::string> heard_;
};

TEST_F(LinkTest, TheLastWordsOfAPeerThatHearsNothingMoreAreRead) {
  peer_says("first");
  peer_says("farewell");
  peer_.reset();
  link_->send(frame_of("to nobody"));
  link_->send(frame_of("to nobody"));
  EXPECT_TRUE(heard_.empty());
  EXPECT_EQ(link_->queued_bytes(), 0U);
  run_until_closed();
  EXPECT_EQ(heard_, (std::vector<std::string>{"first", "farewell", "closed the connection"}));
}

TEST_F(LinkTest, APeerThatReadsNoMoreIsGone) {
  ::shutdown(peer_.get(), SHUT_RD);
  link_->send(frame_of("to nobody"));
  run_until_closed();
  EXPECT_EQ(heard_, std::vector<std::string>{"closed the connection"});
}

}  // namespace
}  // namespace baton::job
