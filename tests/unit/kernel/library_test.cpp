#include "kernel/library.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "../base/expect_error.hpp"
#include "kernel_test_support.hpp"

namespace baton::kernel {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Library : public KernelTest {
 protected:
  /// The error of loading a file with this content.
  std::optional<Error> error_of_loading(const std::string& content) {
    const std::string file = write("file.so", content);
    return error_of([&] { static_cast<void>(load(file)); });
  }
  std::string some_library() { return read(compile_text("k", kernel_that_writes(1)).library); }
};

TEST_F(Library, FindsPlainFunctionsByName) {
  const std::string library = compile_text("k",
                                           "extern \"C\" void one(int64_t* args) { args[0] = 1; }\n"
                                           "extern \"C\" void two(int64_t* args) { args[0] = 2; }\n"
                                           "void mangled(int64_t*) {}\n")
                                  .library;
  EXPECT_EQ(result_of(library, "one"), 1);
  EXPECT_EQ(result_of(library, "two"), 2);
  EXPECT_THAT(load(library).names(), ElementsAre("one", "two"));
}

TEST_F(Library, FindsRegisteredKernels) {
  const std::string library = compile_text("k",
                                           "extern \"C\" void one(int64_t* args) { args[0] = 1; }\n"
                                           "BATON_KERNEL_ENTRY(one);\n"
                                           "extern \"C\" void helper(int64_t*) {}\n"
                                           "extern \"C\" void two(int64_t* args) { args[0] = 2; }\n"
                                           "BATON_KERNEL_ENTRY(two);\n")
                                  .library;
  EXPECT_EQ(result_of(library, "two"), 2);
  EXPECT_THAT(load(library).names(), ElementsAre("one", "two"));
}

TEST_F(Library, AMissingEntryListsWhatThereIs) {
  const std::string library = compile_text("k", "extern \"C\" void scale(int64_t*) {}\n").library;
  const auto error = error_of([&] { static_cast<void>(load(library).entry()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::not_a_kernel);
  EXPECT_THAT(error->message(), HasSubstr("has no kernel \"kernel_entry\""));
  EXPECT_THAT(error->notes(), ElementsAre("it has scale"));
}

TEST_F(Library, KernelsOfTwoLibrariesDoNotMix) {
  const auto text = [](int value) {
    return "inline int& counter() { static int count = " + std::to_string(value) +
           "; return count; }\n"
           "int shared() { return counter(); }\n"
           "extern \"C\" void kernel_entry(int64_t* args) { args[0] = shared(); }\n";
  };
  const KernelLibrary first = load(compile_text("a", text(1)).library);
  const KernelLibrary second = load(compile_text("b", text(2)).library);
  std::int64_t args[1] = {};
  second.entry()(args);
  EXPECT_EQ(args[0], 2);
  first.entry()(args);
  EXPECT_EQ(args[0], 1);
}

TEST_F(Library, TheCoreIsAskedOfWhomeverWasBound) {
  const KernelLibrary library = load(compile_text("k",
                                                  "extern \"C\" void kernel_entry(int64_t* args) {\n"
                                                  "  args[0] = reinterpret_cast<int64_t>(baton_core_current());\n}\n")
                                         .library);
  library.bind_core(+[] { return reinterpret_cast<BatonCore*>(0x1234); });
  std::int64_t args[1] = {};
  library.entry()(args);
  EXPECT_EQ(args[0], 0x1234);
}

TEST_F(Library, AFileThatIsNoLibrary) {
  const auto error = error_of_loading("#include <vector>\n");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::not_a_kernel);
  EXPECT_THAT(error->message(), HasSubstr("is not a library: it begins with \"#include <vector\""));
  EXPECT_THAT(error_of_loading("")->message(), HasSubstr("it is empty"));
  EXPECT_EQ(error_of([&] { static_cast<void>(load(path("none.so"))); })->code(), Code::system);
}

TEST_F(Library, AnotherMachine) {
  std::string content = some_library();
  const Elf64_Half machine = EM_RISCV;
  std::memcpy(content.data() + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine);
  const auto error = error_of_loading(content);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::not_a_kernel);
  EXPECT_THAT(error->message(), AllOf(HasSubstr("was built for RISC-V"), HasSubstr("this machine is")));
}

TEST_F(Library, AnObjectFileAndACutOffLibrary) {
  std::string content = some_library();
  const auto cut = error_of_loading(content.substr(0, content.size() / 2));
  ASSERT_TRUE(cut);
  EXPECT_THAT(cut->message(), HasSubstr("is cut off"));
  EXPECT_THAT(error_of_loading(content.substr(0, 20))->message(), HasSubstr("is cut off"));
  const Elf64_Half type = ET_REL;
  std::memcpy(content.data() + offsetof(Elf64_Ehdr, e_type), &type, sizeof type);
  EXPECT_THAT(error_of_loading(content)->message(), HasSubstr("an object file"));
}

TEST_F(Library, AnotherAbiVersionAndNone) {
  const std::string plain = path("plain.so");
  const std::string source = write("k.cpp", "extern \"C\" void kernel_entry(long*) {}\n");
  ASSERT_EQ(std::system(("c++ -shared -fPIC -o " + plain + " " + source).c_str()), 0);
  const auto none = error_of([&] { static_cast<void>(load(plain)); });
  ASSERT_TRUE(none);
  EXPECT_EQ(none->code(), Code::wrong_abi);
  EXPECT_THAT(none->message(), HasSubstr("does not say"));

  const std::string other = path("other.so");
  const std::string versioned = write("v.cpp",
                                      "extern \"C\" { extern const unsigned baton_kernel_abi_version;\n"
                                      "const unsigned baton_kernel_abi_version = 7; }\n");
  ASSERT_EQ(std::system(("c++ -shared -fPIC -o " + other + " " + versioned).c_str()), 0);
  const auto wrong = error_of([&] { static_cast<void>(load(other)); });
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->code(), Code::wrong_abi);
  EXPECT_THAT(wrong->message(), HasSubstr("version 7 of the kernel ABI, and this Baton has version 2"));
}

// Offsets in a damaged file lead nowhere, and never outside of what was read.
TEST_F(Library, ADamagedFileIsRefusedOrLoadsNothingWrong) {
  const std::string content = some_library();
  for (std::size_t i = 0; i < sizeof(Elf64_Ehdr); ++i) {
    // The loader of the system reads these; what they lead to is its affair.
    if (i >= offsetof(Elf64_Ehdr, e_entry) && i < offsetof(Elf64_Ehdr, e_shoff)) continue;
    if (i >= offsetof(Elf64_Ehdr, e_phentsize) && i < offsetof(Elf64_Ehdr, e_shentsize)) continue;
    std::string damaged = content;
    damaged[i] = static_cast<char>(0xff);
    const std::string file = path("damaged.so");
    std::ofstream(file, std::ios::binary) << damaged;
    try {
      static_cast<void>(load(file));
    } catch (const Error& error) {
      EXPECT_THAT(error.code(), testing::AnyOf(Code::not_a_kernel, Code::wrong_abi)) << i;
    }
    std::filesystem::remove(file);
  }
}

}  // namespace
}  // namespace baton::kernel
