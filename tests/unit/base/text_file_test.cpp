#include "base/text_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

namespace baton {
namespace {

class TextFile : public testing::Test {
 protected:
  TextFile() : path_(testing::TempDir() + "text_file_test." + std::to_string(::getpid())) {}
  ~TextFile() override { std::filesystem::remove(path_); }

  std::string path_;
};

TEST_F(TextFile, IsReadWhole) {
  const std::string text(10'000, 'x');
  std::ofstream(path_) << text;
  EXPECT_EQ(read_text_file(path_), text);
  EXPECT_NE(read_text_file("/proc/self/stat"), std::nullopt);
}

TEST_F(TextFile, MissingOnesAreTold) {
  EXPECT_EQ(read_text_file(path_), std::nullopt);
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(TextFile, DevicesNeedNotEnd) {
  for (const char* device : {"/dev/zero", "/dev/urandom", "/dev/null"}) {
    EXPECT_EQ(read_text_file(device), std::nullopt) << device;
    EXPECT_EQ(errno, ENODEV) << device;
  }
}

TEST_F(TextFile, PipesThatEndAreRead) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const std::jthread writer([this] { std::ofstream(path_) << "a kernel"; });
  EXPECT_EQ(read_text_file(path_), "a kernel");
}

TEST_F(TextFile, PipesThatDoNotEndAreGivenUp) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const std::jthread writer([this] {
    // Ends when nobody reads any more.
    sigset_t pipe_signal{};
    ::sigemptyset(&pipe_signal);
    ::sigaddset(&pipe_signal, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
    std::ofstream out(path_);
    const std::string text(1024 * 1024, 'y');
    while (out << text) {
    }
  });
  EXPECT_EQ(read_text_file(path_), std::nullopt);
  EXPECT_EQ(errno, EFBIG);
}

}  // namespace
}  // namespace baton
