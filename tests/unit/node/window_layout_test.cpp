#include "node/window_layout.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "../base/expect_error.hpp"

namespace baton::node {
namespace {

using testing::HasSubstr;

Error refusal(const std::vector<CommBufferSpec>& buffers, std::size_t window_bytes = 0) {
  const auto error = error_of([&] { static_cast<void>(lay_out("d", buffers, window_bytes)); });
  return error.value_or(Error(Code::internal, "nothing was refused"));
}

TEST(WindowLayout, GivesEachBufferACacheLineOfItsOwn) {
  const std::vector<CommBufferSpec> specs = {{.name = "a", .dtype = DType::int32, .count = 1},
                                             {.name = "b", .dtype = DType::float32, .count = 17},
                                             {.name = "c", .dtype = DType::int8, .count = 64}};
  const WindowLayout layout = lay_out("d", specs, 0);
  ASSERT_EQ(layout.buffers.size(), 3U);
  EXPECT_EQ(layout.buffers[1].offset, 64U);
  EXPECT_EQ(layout.buffers[2].offset, 192U);
  EXPECT_EQ(layout.bytes, 256U);
  EXPECT_EQ(lay_out("d", specs, 1000).bytes, 1000U);
}

TEST(WindowLayout, KeepsTheBytesThatAreAskedFor) {
  const std::vector<CommBufferSpec> specs = {{.name = "roomy", .dtype = DType::float32, .count = 4, .bytes = 300},
                                             {.name = "counted", .dtype = DType::int32, .count = 0, .bytes = 65}};
  const WindowLayout layout = lay_out("d", specs, 0);
  EXPECT_EQ(layout.buffers[0].count, 4U);
  EXPECT_EQ(layout.buffers[0].bytes, 300U);
  EXPECT_EQ(layout.buffers[1].offset, 320U);
  EXPECT_EQ(layout.buffers[1].count, 16U);
  EXPECT_EQ(layout.buffers[1].bytes, 65U);
}

TEST(WindowLayout, RefusesWhatCannotBe) {
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max() / 4;
  EXPECT_THAT(refusal({{.name = "x"}}).message(), HasSubstr("buffer \"x\" cannot have 0 elements"));
  EXPECT_THAT(refusal({{.name = "x", .count = kHuge + 1}}).message(), HasSubstr("cannot have"));
  EXPECT_THAT(refusal({{.name = "x", .count = 4, .bytes = 15}}).message(), HasSubstr("take 16 bytes"));
  EXPECT_THAT(refusal({{.name = "x", .count = 4}, {.name = "x", .count = 4}}).message(), HasSubstr("two buffers"));
  EXPECT_EQ(refusal({{.name = "x", .count = 17}}, 64).code(), Code::out_of_memory);
  EXPECT_EQ(refusal({}).code(), Code::invalid_argument);
  const DType byte = DType::uint8;
  EXPECT_EQ(refusal({{.name = "x", .dtype = byte, .count = 2 * kHuge - 1},
                     {.name = "y", .dtype = byte, .count = 2 * kHuge - 1},
                     {.name = "z", .dtype = byte, .count = 2 * kHuge - 1}})
                .code(),
            Code::out_of_memory);
}

}  // namespace
}  // namespace baton::node
