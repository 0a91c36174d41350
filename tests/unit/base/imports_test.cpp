// What a loaded library calls is replaced for it, and for nobody else.
#include "base/imports.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/shared_library.hpp"

namespace baton {
namespace {

pid_t our_getppid() { return 4711; }

TEST(Imports, AreReplacedForOneLibrary) {
  const SharedLibrary library(BATON_TEST_NEW_LIBRARY, Code::unsupported);
  auto* const asks = library.required<int()>("asks_the_system");
  EXPECT_EQ(asks(), ::getppid());
  ASSERT_TRUE(replace_import(reinterpret_cast<const void*>(asks), "getppid", reinterpret_cast<void*>(&our_getppid)));
  EXPECT_EQ(asks(), 4711);
  EXPECT_NE(::getppid(), 4711);
}

TEST(Imports, AreNotReplacedWhereThereAreNone) {
  const SharedLibrary library(BATON_TEST_NEW_LIBRARY, Code::unsupported);
  const void* const inside = reinterpret_cast<const void*>(library.required<int()>("asks_the_system"));
  EXPECT_FALSE(replace_import(inside, "nobody_calls_this", reinterpret_cast<void*>(&our_getppid)));
  EXPECT_FALSE(replace_import(nullptr, "getppid", reinterpret_cast<void*>(&our_getppid)));
}

}  // namespace
}  // namespace baton
