#include "base/fail.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"

namespace baton {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Fail, FormatsItsMessage) {
  const auto error = error_of([] { fail(Code::out_of_range, "offset {} of {}", 12, "scratch"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::out_of_range);
  EXPECT_EQ(error->message(), "offset 12 of scratch");
}

TEST(FailSystem, NamesTheReasonAndItsConstant) {
  const auto error = error_of([] { fail_system("open /nowhere", ENOENT); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::system);
  EXPECT_EQ(error->message(), "open /nowhere: No such file or directory (ENOENT)");
  EXPECT_THAT(error->notes(), IsEmpty());
}

TEST(FailSystem, TakesErrnoByDefault) {
  const auto error = error_of([] {
    errno = EACCES;
    fail_system("connect");
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message(), "connect: Permission denied (EACCES)");
}

TEST(FailSystem, LackOfMemoryHasItsOwnCode) {
  const auto error = error_of([] { fail_system("mmap of 1 GiB", ENOMEM); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::out_of_memory);
  EXPECT_EQ(error->message(), "mmap of 1 GiB: Cannot allocate memory (ENOMEM)");
}

TEST(FailSystem, LackOfRoomOnADiskHasItsOwnCode) {
  for (const int reason : {ENOSPC, EDQUOT}) {
    const auto error = error_of([&] { fail_system("write /var/cache/x", reason); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), Code::no_space);
    EXPECT_THAT(error->message(), HasSubstr("write /var/cache/x: "));
  }
}

TEST(FailSystem, LackOfDescriptorsPointsToTheLimit) {
  for (const int reason : {EMFILE, ENFILE}) {
    const auto error = error_of([&] { fail_system("memfd_create", reason); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), Code::system);
    EXPECT_THAT(error->notes(), ElementsAre(HasSubstr("ulimit -n")));
  }
}

TEST(FailSystem, SaysSoWhenTheNumberIsUnknown) {
  const auto error = error_of([] { fail_system("ioctl", 9999); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message(), "ioctl: unknown error (errno 9999)");
}

}  // namespace
}  // namespace baton
