// A chip that is a part of a device.
#include <dlfcn.h>

#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/kernel_source.hpp>

namespace {

using baton::Access;
using baton::Chip;
using baton::Graph;
using baton::Tensor;

constexpr const char* kSet = R"(
#include "tensor.h"
extern "C" void kernel_entry(int64_t* args) {
  const auto* tensor = reinterpret_cast<const Tensor*>(args[0]);
  reinterpret_cast<int32_t*>(tensor->buffer.addr)[0] = static_cast<int32_t>(args[1]);
}
)";

template <class Result>
Result told(const char* function) {
  static void* const library = ::dlopen(PLATFORM_SHARING, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Result (*)()>(::dlsym(library, function))();
}

TEST(SharedDevice, IsToldOfHowManyDevicesAChipIsOne) {
  const Chip chip({.platform = PLATFORM_SHARING, .device = 2, .device_count = 4});
  EXPECT_EQ(told<int>("sharing_device_count"), 4);
  try {
    const Chip fifth({.platform = PLATFORM_SHARING, .device = 4, .device_count = 4});
    FAIL() << "there is no such part";
  } catch (const baton::Error& error) {
    EXPECT_EQ(error.code(), baton::Code::out_of_range) << error.what();
  }
}

TEST(SharedDevice, LearnsTheNamesOfAddresses) {
  const baton::LoadedKernel set = baton::KernelFile::compile({.source = "set", .text = kSet}).kernel();
  Chip chip({.platform = PLATFORM_SHARING});
  const Tensor cell = chip.alloc<std::int32_t>({4}, "cell");
  chip.run([&](Graph& graph) { graph.submit(set.get(), {{Access::out, cell}, std::int64_t{7}}); });
  EXPECT_STREQ(told<const char*>("sharing_named"), "cell+0");
}

}  // namespace
