#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "../base/expect_error.hpp"
#include "kernel/compiler.hpp"
#include "kernel/dependency_list.hpp"
#include "kernel/diagnostics.hpp"
#include "kernel/include_root.hpp"
#include "kernel/manifest.hpp"
#include "kernel/processor.hpp"
#include "kernel_test_support.hpp"

namespace baton::kernel {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(ContentHash, IsWrittenAndReadAsHex) {
  const ContentHash hash = hash_of("text");
  EXPECT_EQ(hash.hex().size(), 32U);
  EXPECT_EQ(ContentHash::from_hex(hash.hex()), hash);
  EXPECT_NE(hash_of("text"), hash_of("texu"));
  EXPECT_FALSE(ContentHash::from_hex("12"));
  EXPECT_FALSE(ContentHash::from_hex(std::string(32, 'x')));
}

TEST(ProcessorIdentity, IsMakeAndInstructionsOfTheFirst) {
  EXPECT_EQ(processor_identity("processor\t: 0\nvendor_id\t: A\nmodel\t\t: 143\nmodel name\t: B\ncpu MHz\t\t: 2000.0\n"
                               "flags\t\t: fpu avx\n\nprocessor\t: 1\nflags\t\t: fpu\n"),
            "vendor_id\t: A\nmodel\t\t: 143\nflags\t\t: fpu avx\n");
  EXPECT_EQ(processor_identity("processor\t: 0\nBogoMIPS\t: 50\nFeatures\t: fp sve\nCPU part\t: 0xd40"),
            "Features\t: fp sve\nCPU part\t: 0xd40\n");
  EXPECT_EQ(processor_identity(""), "");
  EXPECT_EQ(processor_identity("\n"), "");
}

TEST(SequenceHash, KnowsWhereTextsEnd) {
  const auto hash = [](std::vector<std::string> texts) {
    SequenceHash sequence;
    sequence.add(texts);
    return sequence.finish();
  };
  EXPECT_NE(hash({"ab", "c"}), hash({"a", "bc"}));
  EXPECT_NE(hash({"a"}), hash({"a", ""}));
  EXPECT_EQ(hash({"a", "b"}), hash({"a", "b"}));
}

TEST(DependencyList, UndoesTheEscapesOfMake) {
  EXPECT_THAT(parse_dependencies("kernel: /a/b.cpp /a/c.hpp \\\n /with\\ space.hpp /d$$.hpp \\\n  /e\\#.hpp\n"),
              ElementsAre("/a/b.cpp", "/a/c.hpp", "/with space.hpp", "/d$.hpp", "/e#.hpp"));
  EXPECT_THAT(parse_dependencies("kernel: /a.cpp"), ElementsAre("/a.cpp"));
  EXPECT_THAT(parse_dependencies(""), IsEmpty());
}

Compilation compilation(const std::string& library) {
  return {.library = library,
          .library_bytes = 5,
          .library_hash = hash_of(library),
          .included = {{"/a b.hpp", {1, -2, 3, 4, 5}, hash_of("a")}, {"/c.hpp", {}, hash_of("c")}}};
}

TEST(Manifest, IsReadAsItWasWritten) {
  const std::string text = with_compilation(compilation("second.so"), write_compilation(compilation("first.so")));
  std::string_view rest = text;
  const auto second = take_compilation(rest);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->library, "second.so");
  EXPECT_EQ(second->library_hash, hash_of("second.so"));
  ASSERT_EQ(second->included.size(), 2U);
  EXPECT_EQ(second->included[0].path, "/a b.hpp");
  EXPECT_EQ(second->included[0].stamp, (FileStamp{1, -2, 3, 4, 5}));
  EXPECT_EQ(take_compilation(rest)->library, "first.so");
  EXPECT_FALSE(take_compilation(rest));
}

TEST(Manifest, HoldsEachLibraryOnceAndFourAtMost) {
  std::string text;
  for (const char* name : {"a", "b", "a", "c", "d", "e"}) text = with_compilation(compilation(name), text);
  std::vector<std::string> names;
  std::string_view rest = text;
  while (const auto next = take_compilation(rest)) names.push_back(next->library);
  EXPECT_THAT(names, ElementsAre("e", "d", "c", "a"));
}

TEST(Manifest, NonsenseIsNothing) {
  const std::string text = write_compilation(compilation("a"));
  for (std::size_t length = 0; length < text.size() - 1; ++length) {
    std::string_view cut = std::string_view(text).substr(0, length);
    const auto taken = take_compilation(cut);
    // Cut inside the last path it is another path, which no file has.
    EXPECT_TRUE(!taken || length >= text.rfind(' ')) << length;
  }
  std::string_view nonsense = "x y z\n";
  EXPECT_FALSE(take_compilation(nonsense));
}

TEST(Diagnostics, ShowTheAuthorsErrorsFirstAndCutTheRest) {
  std::string output;
  for (int i = 0; i < 9; ++i) {
    output += fmt::format(
        "/lib/x.hpp: In instantiation of 'f':\n/lib/y.hpp:4:2:   required from 'g'\n"
        "k.cpp:{}:3:   required from here\n/lib/x.hpp:7:1: error: no match {}\n    7 |  a < b\n/lib/z.hpp:1: note: "
        "candidate\n"
        "   1 | candidate text\n",
        i, i);
  }
  output += "k.cpp:77:1: error: 'oops' was not declared\n   77 | oops\n";
  const Diagnosis diagnosis = diagnose(output, "k.cpp");
  EXPECT_EQ(diagnosis.errors, 10);
  ASSERT_GE(diagnosis.lines.size(), 5U);
  EXPECT_EQ(diagnosis.lines[0], "k.cpp:77:1: error: 'oops' was not declared");
  EXPECT_EQ(diagnosis.lines[1], "   77 | oops");
  EXPECT_EQ(diagnosis.lines[2], "k.cpp:0:3:   required from here");
  EXPECT_EQ(diagnosis.lines[3], "/lib/x.hpp:7:1: error: no match 0");
  EXPECT_THAT(diagnosis.lines, Not(Contains(HasSubstr("candidate"))));
  EXPECT_EQ(diagnosis.lines.size() + static_cast<std::size_t>(diagnosis.lines_cut), 65U);
}

TEST(Diagnostics, WithoutAnErrorTheEndIsShown) {
  const Diagnosis diagnosis = diagnose("one\ntwo: Killed\n", "k.cpp");
  EXPECT_EQ(diagnosis.errors, 0);
  EXPECT_THAT(diagnosis.lines, ElementsAre("one", "two: Killed"));
}

TEST(Diagnostics, LongLinesLoseTheirMiddle) {
  const Diagnosis diagnosis = diagnose("k.cpp:1:1: error: " + std::string(5000, 'x') + " end\n", "k.cpp");
  ASSERT_EQ(diagnosis.lines.size(), 1U);
  EXPECT_LT(diagnosis.lines[0].size(), 300U);
  EXPECT_THAT(diagnosis.lines[0],
              testing::AllOf(testing::StartsWith("k.cpp:1:1: error: xxx"), testing::EndsWith(" end")));
}

class Parts : public KernelTest {};

TEST_F(Parts, HeadersAreFoundBesideTheModule) {
  std::filesystem::create_directories(path("prefix/share/baton/include/baton"));
  write("prefix/share/baton/include/baton/kernel_library.hpp", "");
  EXPECT_EQ(include_root_near(path("prefix/bin/baton"), ""), path("prefix/share/baton/include"));
  EXPECT_EQ(include_root_near(path("prefix/lib/triplet/libbaton.so"), ""), path("prefix/share/baton/include"));
  EXPECT_EQ(include_root_near(path("elsewhere/bin/baton"), path("prefix/share/baton/include")),
            path("prefix/share/baton/include"));
  EXPECT_FALSE(include_root_near(path("elsewhere/bin/baton"), ""));
  EXPECT_EQ(find_include_root(path("prefix/share/baton/include")), path("prefix/share/baton/include"));
  EXPECT_EQ(error_of([&] { static_cast<void>(find_include_root(path("elsewhere"))); })->code(), Code::unsupported);
}

TEST_F(Parts, TheCompilerIsTheFirstOfThreeOnThePath) {
  const Cache cache(path("cache"), 1'000'000);
  const Deadline deadline = Deadline::after(std::chrono::seconds(60));
  std::filesystem::create_directories(path("bin"));
  const auto add = [&](const std::string& name, const std::string& says) {
    std::filesystem::permissions(write("bin/" + name, "#!/bin/sh\necho '" + says + "'\n"),
                                 std::filesystem::perms::owner_all);
  };
  const auto missing = error_of([&] { static_cast<void>(find_compiler({}, path("bin"), cache, deadline)); });
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->code(), Code::unsupported);
  EXPECT_THAT(missing->notes(), Contains(HasSubstr("apt-get install g++")));

  add("clang++", "Some clang version 14");
  EXPECT_EQ(find_compiler({}, path("bin"), cache, deadline).family, CompilerFamily::clang);
  add("g++", "g++ 12");
  const Compiler found = find_compiler({}, path("bin"), cache, deadline);
  EXPECT_EQ(found.words, std::vector<std::string>{path("bin/g++")});
  EXPECT_EQ(found.version, "g++ 12");
  EXPECT_EQ(found.family, CompilerFamily::gcc);
  add("g++", "g++ 13");
  EXPECT_NE(find_compiler({}, path("bin"), cache, deadline).identity, found.identity);
  EXPECT_THAT(find_compiler("clang++ -m64", path("bin"), cache, deadline).words,
              ElementsAre(path("bin/clang++"), "-m64"));
}

}  // namespace
}  // namespace baton::kernel
