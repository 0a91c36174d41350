#include "kernel/compile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "../base/expect_error.hpp"
#include "kernel/cache.hpp"
#include "kernel/library.hpp"
#include "kernel/processor.hpp"
#include "kernel_test_support.hpp"

namespace baton::kernel {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Compile : public KernelTest {};

TEST_F(Compile, AFileBecomesALibraryThatRuns) {
  const std::string source = write("seven.cpp", kernel_that_writes(7));
  const CompiledKernel kernel = compile_file(source);
  EXPECT_EQ(kernel.origin, Origin::compiled);
  EXPECT_GT(kernel.duration.count(), 0);
  EXPECT_THAT(kernel.library, StartsWith(path("cache") + "/libraries/seven-"));
  EXPECT_EQ(result_of(kernel.library), 7);
}

TEST_F(Compile, ATextBecomesALibraryThatRuns) {
  EXPECT_EQ(result_of(compile_text("eight", kernel_that_writes(8)).library), 8);
}

TEST_F(Compile, TheSecondTimeTheCacheHasIt) {
  use_script_as_compiler();
  const std::string source = write("k.cpp", kernel_that_writes(1));
  const CompiledKernel first = compile_file(source);
  const CompiledKernel second = compile_file(source);
  EXPECT_EQ(second.origin, Origin::cache);
  EXPECT_EQ(second.library, first.library);
  EXPECT_EQ(compilations(), 1);
}

TEST_F(Compile, TheCacheMayBeSpeltInAnyWay) {
  options_.cache_dir = folder_.string() + "//./cache/";
  static_cast<void>(compile_text("k", kernel_that_writes(1)));
  EXPECT_EQ(compile_text("k", kernel_that_writes(1)).origin, Origin::cache);
  options_.cache_dir = path("cache");
  EXPECT_EQ(compile_text("k", kernel_that_writes(1)).origin, Origin::cache);
}

TEST_F(Compile, LongMessagesAreCutAndKeptInAFile) {
  std::string text = "#include <algorithm>\n#include <vector>\nstruct S {};\n";
  text += "void f(std::vector<S>& v) { std::sort(v.begin(), v.end()); }\n";
  const auto error = error_of([&] { static_cast<void>(compile_text("sorts", text)); });
  ASSERT_TRUE(error);
  const std::string& last = error->notes().back();
  EXPECT_THAT(last, HasSubstr(" more lines: "));
  const std::string log = last.substr(last.find(": ") + 2, last.size() - last.find(": ") - 3);
  EXPECT_THAT(read(log), HasSubstr("sorts:4"));
  EXPECT_THAT(error->notes(), Contains(StartsWith("sorts:4:")));
}

TEST_F(Compile, CoreDefinesAndFlagsAreSeenAndToldApart) {
  const std::string text =
      "#ifndef __CPU_SIM\n#error\n#endif\n"
      "#if defined(__DAV_CUBE__) == defined(__DAV_VEC__)\n#error\n#endif\n"
      // Sources without any of our headers define what they miss, for another compiler.
      "#ifndef __aicore__\n#define __aicore__ [aicore]\n#endif\n"
      "#ifndef __gm__\n#define __gm__ [gm]\n#endif\n"
      "#ifdef __DAV_CUBE__\n#define CORE 100\n#else\n#define CORE 0\n#endif\n"
      "extern \"C\" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args) {\n"
      "  args[0] = CORE + VALUE;\n}\n";
  const auto value = [&](CoreType core, std::vector<std::string> defines, std::vector<std::string> flags) {
    const CompiledKernel kernel = compile({.source = "k",
                                           .text = text,
                                           .core = core,
                                           .include_dirs = {},
                                           .defines = std::move(defines),
                                           .flags = std::move(flags)},
                                          options_);
    EXPECT_EQ(kernel.messages, "");
    return result_of(kernel.library);
  };
  EXPECT_EQ(value(CoreType::vector, {"VALUE=1"}, {}), 1);
  EXPECT_EQ(value(CoreType::cube, {"VALUE=1"}, {}), 101);
  EXPECT_EQ(value(CoreType::cube, {}, {"-DVALUE=3"}), 103);
}

TEST_F(Compile, AProductAndASumAreRoundedEach) {
  // (1 + 2^-12)^2 is 1 + 2^-11 + 2^-24. The last bit is lost unless both are done at once.
  const CompiledKernel kernel = compile_text("k",
                                             "extern \"C\" void kernel_entry(int64_t* args) {\n"
                                             "  volatile float x = 1.000244140625f, y = -1.00048828125f;\n"
                                             "  const float a = x, b = y;\n"
                                             "  args[0] = a * a + b == 0;\n"
                                             "}\n");
  EXPECT_EQ(result_of(kernel.library), 1);
}

TEST_F(Compile, ForAnyProcessorAndForThisOneAreDifferentLibraries) {
  if (this_processor().empty()) GTEST_SKIP() << "the system does not tell which processor this is";
  // Compilers say with macros which instructions they may use.
  const auto uses_more = [&](Target target) {
    return result_of(compile({.source = "k",
                              .text = "extern \"C\" void kernel_entry(int64_t* args) {\n"
                                      "#if defined(__SSE4_2__) || defined(__ARM_FEATURE_QRDMX)\n"
                                      "  args[0] = 1;\n"
                                      "#else\n"
                                      "  args[0] = 0;\n"
                                      "#endif\n"
                                      "}\n",
                              .target = target,
                              .include_dirs = {},
                              .defines = {},
                              .flags = {}},
                             options_)
                         .library);
  };
  const bool has_more =
      this_processor().find(" sse4_2") != std::string::npos || this_processor().find(" asimdrdm") != std::string::npos;
  EXPECT_EQ(uses_more(Target::this_processor), has_more);
  EXPECT_EQ(uses_more(Target::any_processor), 0);
}

TEST_F(Compile, AChangedHeaderCompilesAgainAndTheOldStateIsStillThere) {
  use_script_as_compiler();
  std::filesystem::create_directory(path("include"));
  write("include/value.hpp", "#define VALUE 1\n");
  const CompileRequest request{.source = "k",
                               .text =
                                   "#include <value.hpp>\n"
                                   "extern \"C\" void kernel_entry(int64_t* args) { args[0] = VALUE; }\n",
                               .include_dirs = {path("include")},
                               .defines = {},
                               .flags = {}};
  EXPECT_EQ(result_of(compile(request, options_).library), 1);
  write("include/value.hpp", "#define VALUE 2\n");
  EXPECT_EQ(result_of(compile(request, options_).library), 2);
  EXPECT_EQ(compilations(), 2);
  write("include/value.hpp", "#define VALUE 1\n");
  EXPECT_EQ(result_of(compile(request, options_).library), 1);
  EXPECT_EQ(compilations(), 2);
}

TEST_F(Compile, ATextIsRememberedAlsoIfTheCompilerListsTheNameThatItWasGiven) {
  // As nvcc does.
  use_script_as_compiler(
      "c++ \"$@\" || exit\n"
      "while [ $# -gt 1 ]; do [ \"$1\" = -MF ] && sed -i '1s/: /: named.cpp /' \"$2\"; shift; done\n"
      "exit 0");
  EXPECT_EQ(compile_text("named.cpp", kernel_that_writes(3)).origin, Origin::compiled);
  EXPECT_EQ(compile_text("named.cpp", kernel_that_writes(3)).origin, Origin::cache);
}

TEST_F(Compile, AHeaderThatWasOnlyTouchedDoesNotCompileAgain) {
  use_script_as_compiler();
  write("value.hpp", "#define VALUE 1\n");
  const std::string source =
      write("k.cpp", "#include \"value.hpp\"\nextern \"C\" void kernel_entry(int64_t* args) { args[0] = VALUE; }\n");
  static_cast<void>(compile_file(source));
  write("value.hpp", "#define VALUE 1\n");
  EXPECT_EQ(compile_file(source).origin, Origin::cache);
  EXPECT_EQ(compilations(), 1);
}

TEST_F(Compile, AHeaderThatChangesWhileTheCompilerRunsIsNotRemembered) {
  write("value.hpp", "#define VALUE 1\n");
  const std::string source =
      write("k.cpp", "#include \"value.hpp\"\nextern \"C\" void kernel_entry(int64_t* args) { args[0] = VALUE; }\n");
  use_script_as_compiler(fmt::format("[ -e {0} ] || {{ touch {0}; c++ \"$@\"; echo '#define VALUE 2' > {1}; exit; }}",
                                     path("once"), path("value.hpp")));
  EXPECT_EQ(result_of(compile_file(source).library), 1);
  EXPECT_EQ(result_of(compile_file(source).library), 2);
}

TEST_F(Compile, AnotherCompilerCompilesAgain) {
  use_script_as_compiler();
  const std::string source = write("k.cpp", kernel_that_writes(1));
  static_cast<void>(compile_file(source));
  use_script_as_compiler("# another one");
  EXPECT_EQ(compile_file(source).origin, Origin::compiled);
  EXPECT_EQ(compilations(), 2);
}

TEST_F(Compile, ADamagedLibraryIsCompiledAgain) {
  use_script_as_compiler();
  const std::string source = write("k.cpp", kernel_that_writes(5));
  const std::string library = compile_file(source).library;
  std::filesystem::resize_file(library, 1000);
  EXPECT_EQ(result_of(compile_file(source).library), 5);
  std::string content = read(library);
  content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
  std::filesystem::remove(library);
  std::ofstream(library, std::ios::binary) << content;
  EXPECT_EQ(result_of(compile_file(source).library), 5);
  std::filesystem::remove(library);
  EXPECT_EQ(result_of(compile_file(source).library), 5);
  EXPECT_EQ(compilations(), 4);
}

TEST_F(Compile, ADamagedManifestIsNoManifest) {
  use_script_as_compiler();
  const std::string source = write("k.cpp", kernel_that_writes(5));
  static_cast<void>(compile_file(source));
  for (const auto& entry : std::filesystem::directory_iterator(path("cache/manifests"))) {
    std::filesystem::resize_file(entry.path(), std::filesystem::file_size(entry.path()) - 3);
  }
  EXPECT_EQ(result_of(compile_file(source).library), 5);
  EXPECT_EQ(compilations(), 2);
}

TEST_F(Compile, ThreadsThatWantTheSameCompileOnce) {
  use_script_as_compiler();
  const std::string source = write("k.cpp", kernel_that_writes(6));
  std::vector<std::thread> threads;
  std::vector<std::int64_t> results(6);
  for (std::int64_t& result : results) {
    threads.emplace_back([&] { result = result_of(compile_file(source).library); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(results, testing::Each(6));
  EXPECT_EQ(compilations(), 1);
}

TEST_F(Compile, ErrorsShowTheAuthorsFileAndLine) {
  const std::string source =
      write("bad.cpp", "\n\nextern \"C\" void kernel_entry(int64_t* args) { args[0] = nothing; }\n");
  const auto error = error_of([&] { static_cast<void>(compile_file(source)); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::compile_failed);
  EXPECT_THAT(error->message(), StartsWith(source + " does not compile: 1 error ("));
  EXPECT_THAT(error->notes(), Contains(AllOf(StartsWith(source + ":3:"), HasSubstr("error:"), HasSubstr("nothing"))));
}

TEST_F(Compile, ErrorsInATextShowItsNameAndLine) {
  const auto error = error_of([&] { static_cast<void>(compile_text("scale", "int x;\nint y = z;\n")); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->notes(), Contains(StartsWith("scale:2:")));
}

TEST_F(Compile, AMissingFunctionIsFoundNow) {
  const std::string source = write(
      "k.cpp", "int missing(int);\nextern \"C\" void kernel_entry(int64_t* args) {\n  args[0] = missing(1);\n}\n");
  const auto error = error_of([&] { static_cast<void>(compile_file(source)); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::compile_failed);
  EXPECT_THAT(error->notes(), Contains(AllOf(HasSubstr("k.cpp:3"), HasSubstr("missing(int)"))));
}

TEST_F(Compile, AFullDiskAndTooLittleMemoryAreNotErrorsOfTheSource) {
  const std::string source = write("k.cpp", kernel_that_writes(1));
  const auto expect = [&](const char* said, Code code, std::initializer_list<std::string_view> parts) {
    use_script_as_compiler(fmt::format("echo \"$0: {}\" >&2; exit 1", said));
    try {
      static_cast<void>(compile_file(source));
      FAIL() << "it compiled";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      for (const std::string_view part : parts) EXPECT_THAT(error.what(), testing::HasSubstr(std::string(part)));
    }
  };
  expect("error writing to /tmp/x.s: No space left on device", Code::no_space, {"k.cpp", "is full", "KiB left"});
  expect("fatal error: Killed signal terminated program cc1plus", Code::out_of_memory, {"k.cpp", "more memory"});
  expect("fatal error: something else", Code::compile_failed, {"does not compile"});
}

TEST_F(Compile, AFailureIsNotRemembered) {
  write("value.hpp", "#error not yet\n");
  const std::string source = write("k.cpp", "#include \"value.hpp\"\n" + kernel_that_writes(3));
  EXPECT_THROW(static_cast<void>(compile_file(source)), Error);
  write("value.hpp", "\n");
  EXPECT_EQ(result_of(compile_file(source).library), 3);
}

TEST_F(Compile, WarningsComeBack) {
  const CompiledKernel kernel = compile_text("k", "#warning careful\n" + kernel_that_writes(3));
  EXPECT_THAT(kernel.messages, HasSubstr("careful"));
}

TEST_F(Compile, ACompilerThatHangsIsKilledWithItsChildren) {
  use_script_as_compiler(
      fmt::format("[ -e {} ] && {{ sleep 1000 & echo $! > {}; sleep 1000; }}", path("hang"), path("pid")));
  // Asks the script for its version, which the timeout is not about.
  static_cast<void>(compile_text("k", kernel_that_writes(2)));
  write("hang", "");
  options_.compile_timeout = std::chrono::milliseconds(1500);
  const auto error = error_of([&] { static_cast<void>(compile_text("k", kernel_that_writes(3))); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::compile_failed);
  EXPECT_THAT(error->message(), HasSubstr("did not end within 1.5 s"));
  const int child = std::stoi(read(path("pid")));
  // Its parent was killed too, so somebody else reaps it; a zombie is dead.
  for (std::string state; state != "Z";) {
    std::ifstream stat(fmt::format("/proc/{}/stat", child));
    std::string word;
    if (!(stat >> word >> word >> state)) break;
  }
}

TEST_F(Compile, AMissingCompilerSaysWhatToInstall) {
  options_.compiler = "no-such-compiler";
  const auto named = error_of([&] { static_cast<void>(compile_text("k", kernel_that_writes(1))); });
  ASSERT_TRUE(named);
  EXPECT_EQ(named->code(), Code::unsupported);
  EXPECT_THAT(named->message(), HasSubstr("\"no-such-compiler\""));
}

TEST_F(Compile, AMissingSourceIsNamed) {
  const auto error = error_of([&] { static_cast<void>(compile_file(path("none.cpp"))); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::invalid_argument);
  EXPECT_THAT(error->message(), AllOf(HasSubstr("there is no kernel source"), HasSubstr("none.cpp")));
  EXPECT_THAT(error->remedy(), HasSubstr("Correct the path"));
  EXPECT_THROW(static_cast<void>(compile_file(folder_.string())), Error);
}

TEST_F(Compile, NothingUnfinishedIsLeft) {
  static_cast<void>(compile_text("k", kernel_that_writes(1)));
  EXPECT_THROW(static_cast<void>(compile_text("k", "?")), Error);
  EXPECT_TRUE(std::filesystem::is_empty(path("cache/work")));
}

}  // namespace
}  // namespace baton::kernel
