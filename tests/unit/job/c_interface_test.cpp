// What the C interface refuses. What it does is in tests/conformance.
#include <baton/comm.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <baton/error.hpp>

#include <string>
#include <thread>

namespace baton {
namespace {

using testing::HasSubstr;

void expect_error(int code, Code expected, const std::string& part) {
  EXPECT_EQ(code, static_cast<int>(expected));
  EXPECT_THAT(comm_last_error(), HasSubstr(part));
}

TEST(CInterface, InitChecksItsArguments) {
  EXPECT_EQ(comm_init(0, 1, nullptr, nullptr), nullptr);
  EXPECT_THAT(comm_last_error(), HasSubstr("comm_init: rendezvous is null"));
  EXPECT_EQ(comm_init(0, 0, nullptr, "inproc:c"), nullptr);
  EXPECT_THAT(comm_last_error(), HasSubstr("0 ranks"));
  EXPECT_EQ(comm_init(-1, 1, nullptr, "inproc:c"), nullptr);
  EXPECT_THAT(comm_last_error(), HasSubstr("rank -1"));
  EXPECT_EQ(comm_init(1, 1, nullptr, "inproc:c"), nullptr);
  EXPECT_THAT(comm_last_error(), HasSubstr("rank 1 is outside 0..0"));
  EXPECT_EQ(comm_init(0, 1, nullptr, "nothing:c"), nullptr);
  EXPECT_THAT(comm_last_error(), HasSubstr("BATON-E023"));
}

TEST(CInterface, NullHandlesAreErrors) {
  std::uint64_t word = 0;
  std::size_t bytes = 0;
  const std::uint32_t ranks[1] = {0};
  expect_error(comm_alloc_windows(nullptr, 8, &word), Code::invalid_argument, "comm_alloc_windows: handle is null");
  expect_error(comm_get_local_window_base(nullptr, &word), Code::invalid_argument, "comm_get_local_window_base");
  expect_error(comm_get_window_size(nullptr, &bytes), Code::invalid_argument, "comm_get_window_size");
  expect_error(comm_derive_context(nullptr, ranks, 1, 0, 0, 8, &word), Code::invalid_argument, "comm_derive_context");
  expect_error(comm_alloc_domain_windows(nullptr, 1, ranks, 1, 0, 8, &word, &word), Code::invalid_argument,
               "comm_alloc_domain_windows");
  expect_error(comm_release_domain_windows(nullptr, 1), Code::invalid_argument, "comm_release_domain_windows");
  expect_error(comm_put(nullptr, 1, 0, 0, &word, 8), Code::invalid_argument, "comm_put: handle is null");
  expect_error(comm_get(nullptr, 1, 0, 0, &word, 8), Code::invalid_argument, "comm_get: handle is null");
  expect_error(comm_notify(nullptr, 1, 0, 0, 1), Code::invalid_argument, "comm_notify: handle is null");
  expect_error(comm_wait(nullptr, 1, 0, 0, 1), Code::invalid_argument, "comm_wait: handle is null");
  expect_error(comm_barrier(nullptr), Code::invalid_argument, "comm_barrier: handle is null");
  expect_error(comm_destroy(nullptr), Code::invalid_argument, "comm_destroy: handle is null");
}

TEST(CInterface, NullOutputsAreErrors) {
  int stream = 0;
  CommHandle handle = comm_init(0, 1, &stream, "inproc:c");
  ASSERT_NE(handle, nullptr) << comm_last_error();
  std::uint64_t word = 0;
  expect_error(comm_alloc_windows(handle, 8, nullptr), Code::invalid_argument, "ctx_out is null");
  ASSERT_EQ(comm_alloc_windows(handle, 8, &word), 0) << "a refused call has no effect";
  expect_error(comm_get_local_window_base(handle, nullptr), Code::invalid_argument, "base_out is null");
  expect_error(comm_get_window_size(handle, nullptr), Code::invalid_argument, "bytes_out is null");
  expect_error(comm_release_domain_windows(handle, word), Code::released, "no live windows");
  expect_error(comm_release_domain_windows(handle, 0), Code::released, "no live windows");
  EXPECT_EQ(comm_destroy(handle), 0);
}

TEST(CInterface, LastErrorBelongsToItsThread) {
  expect_error(comm_barrier(nullptr), Code::invalid_argument, "comm_barrier");
  std::thread([] {
    EXPECT_STREQ(comm_last_error(), "");
    expect_error(comm_destroy(nullptr), Code::invalid_argument, "comm_destroy");
  }).join();
  EXPECT_THAT(comm_last_error(), HasSubstr("comm_barrier"));
}

TEST(CInterface, MoreRanksThanAPlainContextHolds) {
  // 65 ranks are a larger context, not an error: see tests/conformance. Too many are one.
  EXPECT_EQ(comm_init(0, 65'537, nullptr, "inproc:c"), nullptr);
  EXPECT_THAT(comm_last_error(), HasSubstr("65537"));
}

}  // namespace
}  // namespace baton
