#include "wire/names.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace baton::wire {
namespace {

TEST(SharedName, KeepsWhatFits) {
  SharedName name{};
  for (const std::string& text : {std::string(), std::string("x"), std::string("12345678"),
                                  std::string("a longer name"), std::string(kNameBytes, 'n')}) {
    store_name(name, text);
    EXPECT_EQ(load_name(name), text);
  }
  store_name(name, std::string(kNameBytes + 10, 'm'));
  EXPECT_EQ(load_name(name), std::string(kNameBytes, 'm'));
  store_name(name, "short again");
  EXPECT_EQ(load_name(name), "short again");
}

TEST(SharedName, ShowsForeignBytesHarmlessly) {
  SharedName name{};
  store_name(name, std::string_view("a\x1b[2J\n\x80\xff~", 9));
  EXPECT_EQ(load_name(name), "a?[2J???~");
}

}  // namespace
}  // namespace baton::wire
