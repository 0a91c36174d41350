// Functions by file and offset.
#include "node/code_address.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include <baton/error.hpp>

namespace baton::node {
namespace {

int answer() { return 42; }

TEST(CodeAddress, OfThisProgramHasNoFile) {
  const CodeAddress place = find_code(reinterpret_cast<const void*>(&answer));
  EXPECT_EQ(place.file, "");
  EXPECT_EQ(reinterpret_cast<int (*)()>(load_code(place))(), 42);
}

TEST(CodeAddress, OfALibraryNamesIt) {
  const CodeAddress in_libc = find_code(reinterpret_cast<const void*>(&::getenv));
  EXPECT_NE(in_libc.file.find("libc"), std::string::npos) << in_libc.file;
  EXPECT_EQ(load_code(in_libc), reinterpret_cast<void*>(&::getenv));
}

TEST(CodeAddress, OutsideOfAllFilesIsAnError) {
  const int local = 0;
  EXPECT_THROW(static_cast<void>(find_code(&local)), Error);
  EXPECT_THROW(static_cast<void>(load_code({"/nonexistent.so", 16})), Error);
}

}  // namespace
}  // namespace baton::node
