// What kernels share: compiled once, linked to each. With headers of its own, which have one small function.
#include <gtest/gtest.h>

#include <filesystem>

#include <fmt/format.h>

#include "base/text_file.hpp"
#include "kernel/cache.hpp"
#include "kernel/include_root.hpp"
#include "kernel_test_support.hpp"

namespace baton::kernel {
namespace {

class Bodies : public KernelTest {
 protected:
  Bodies() {
    const std::filesystem::path real = find_include_root(std::nullopt);
    const std::filesystem::path mine = folder_ / "include";
    std::filesystem::create_directories(mine / "kernel" / "pto");
    std::filesystem::create_directory_symlink(real / "baton", mine / "baton");
    std::filesystem::create_symlink(real / "kernel" / "printing.hpp", mine / "kernel" / "printing.hpp");
    std::filesystem::create_directory_symlink(real / "kernel" / "pto" / "target", mine / "kernel" / "pto" / "target");
    share(7);
    options_.include_dir = mine.string();
    use_script_as_compiler();
  }

  /// What the header's function gives.
  void share(int value) const {
    static_cast<void>(
        write("include/kernel/pto/pto-inst.hpp",
              fmt::format("#pragma once\n"
                          "template <typename = void> __attribute__((noinline)) int shared() {{ return {}; }}\n"
                          "template <typename = void> const char* unused() {{ return \"unused by all\"; }}\n"
                          "#if defined(PTO_BODIES)\n"
                          "PTO_BODIES template int shared<>();\n"
                          "PTO_BODIES template const char* unused<>();\n"
                          "#endif\n",
                          value)));
  }
  [[nodiscard]] CompiledKernel user(int number) const {
    return compile_text(fmt::format("user{}", number),
                        fmt::format("#include <pto/pto-inst.hpp>\n"
                                    "extern \"C\" void kernel_entry(int64_t* args) {{ args[0] = shared() + {}; }}\n",
                                    100 * number));
  }
  /// A cache with enough libraries to be worth more.
  void fill_cache() const {
    for (int i = 0; i < 8; ++i) static_cast<void>(compile_text(fmt::format("k{}", i), kernel_that_writes(i)));
  }
};

TEST_F(Bodies, ANewCacheDoesWithoutThem) {
  EXPECT_EQ(result_of(user(1).library), 107);
  EXPECT_EQ(compilations(), 1);
}

TEST_F(Bodies, ACacheInUseHasThemOnceForAllKernels) {
  fill_cache();
  ASSERT_EQ(compilations(), 8);
  EXPECT_EQ(result_of(user(1).library), 107);
  EXPECT_EQ(compilations(), 10);
  EXPECT_EQ(result_of(user(2).library), 207);
  EXPECT_EQ(compilations(), 11);
  EXPECT_EQ(user(2).origin, Origin::cache);
}

TEST_F(Bodies, AreInALibraryOnlyAsFarAsItUsesThem) {
  fill_cache();
  const auto library = read_text_file(user(1).library);
  ASSERT_TRUE(library);
  EXPECT_EQ(library->find("unused by all"), std::string::npos);
}

TEST_F(Bodies, AChangedHeaderMakesThemAnew) {
  fill_cache();
  EXPECT_EQ(result_of(user(1).library), 107);
  share(8);
  EXPECT_EQ(result_of(user(1).library), 108);
  EXPECT_EQ(result_of(user(2).library), 208);
  EXPECT_EQ(compilations(), 13);
}

TEST_F(Bodies, UnusualRequestsAreCompiled) {
  fill_cache();
  const auto compiled = [&](CompileRequest request) {
    request.source = "k";
    request.text =
        "#include <pto/pto-inst.hpp>\nextern \"C\" void kernel_entry(int64_t* args) { args[0] = shared(); }\n";
    return compile(request, options_);
  };
  EXPECT_EQ(
      result_of(compiled({.source = {}, .text = {}, .include_dirs = {}, .defines = {}, .flags = {"-O1"}}).library), 7);
  EXPECT_EQ(
      result_of(
          compiled({.source = {}, .text = {}, .include_dirs = {}, .defines = {"PTO_NO_CHECKS"}, .flags = {}}).library),
      7);
  EXPECT_EQ(
      result_of(
          compiled({.source = {}, .text = {}, .include_dirs = {}, .defines = {}, .flags = {}, .debug = true}).library),
      7);
  EXPECT_EQ(compilations(), 11);
}

TEST_F(Bodies, ACompilerThatDoesNotManageIsAskedOnce) {
  use_script_as_compiler("case \"$*\" in *\"-DPTO_BODIES= \"*) exit 1;; esac");
  fill_cache();
  EXPECT_EQ(result_of(user(1).library), 107);
  EXPECT_EQ(result_of(user(2).library), 207);
  EXPECT_EQ(compilations(), 11);
}

}  // namespace
}  // namespace baton::kernel
