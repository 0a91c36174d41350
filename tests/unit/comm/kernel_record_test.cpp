#include "comm/kernel_record.hpp"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace baton::comm {
namespace {

TEST(KernelRecord, KernelsAreShownAndFurtherOnesCounted) {
  const auto block = std::make_unique<wire::RankBlock>();
  EXPECT_THAT(read_kernels(*block), testing::IsEmpty());
  std::vector<ComputingKernel> kernels;
  for (std::size_t i = 0; i < wire::kKernelRecords + 2; ++i) {
    kernels.push_back({"kernel 'spin' on vector core " + std::to_string(i) + ".0", "at spin.cpp:12 in spin", 5});
  }
  write_kernels(*block, kernels);
  EXPECT_THAT(read_kernels(*block), testing::ElementsAreArray(kernels.data(), wire::kKernelRecords));
  EXPECT_EQ(block->unlisted_kernels.load(), 2U);
  kernels.resize(1);
  write_kernels(*block, kernels);
  EXPECT_THAT(read_kernels(*block), testing::ElementsAreArray(kernels));
  EXPECT_EQ(block->unlisted_kernels.load(), 0U);
  write_kernels(*block, {});
  EXPECT_THAT(read_kernels(*block), testing::IsEmpty());
}

TEST(KernelRecord, OneThatIsBeingWrittenIsNotRead) {
  const auto block = std::make_unique<wire::RankBlock>();
  write_kernels(*block, std::vector<ComputingKernel>{{"a", "b", 1}});
  block->kernels[0].version.fetch_add(1);
  EXPECT_THAT(read_kernels(*block), testing::IsEmpty());
}

}  // namespace
}  // namespace baton::comm
