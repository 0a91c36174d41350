#include "kernel/build.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "base/fail.hpp"
#include "base/liveness.hpp"
#include "base/text_file.hpp"
#include "kernel/build_for_device.hpp"
#include "kernel/dependency_list.hpp"
#include "kernel/diagnostics.hpp"
#include "kernel/processor.hpp"
#include "kernel/run_program.hpp"
#include "kernel/sealed_file.hpp"
#include "kernel/shortage.hpp"

namespace baton::kernel {
namespace {

std::string with_line_directive(const std::string& name, const std::string& text) {
  std::string escaped;
  for (const char c : name) {
    if (c == '"' || c == '\\') escaped += '\\';
    if (c != '\n') escaped += c;
  }
  return fmt::format("#line 1 \"{}\"\n{}", escaped, text);
}

/// What include/kernel/printing.hpp defines in place of the standard library's.
constexpr const char* kPrintingFunctions[] = {
    "printf", "fprintf", "vprintf", "vfprintf",      "__printf_chk", "__fprintf_chk", "puts",  "fputs",     "fputc",
    "putc",   "putchar", "fwrite",  "__assert_fail", "exit",         "_exit",         "_Exit", "quick_exit"};

/// "In function 'kernel_entry':" and its like: nobody misses a line or two.
constexpr int kNotWorthALog = 3;

/// The full messages stay in a file; the error has the first of them.
[[noreturn]] void report(const Recipe& recipe, const Compiler& compiler, const ProgramEnd& end,
                         const std::string& log_file, const WorkFolder& work) {
  const Diagnosis diagnosis = diagnose(end.output, recipe.source);
  if (const auto full = shortage(recipe.source, end.output, work.path())) throw Error(*full);
  std::vector<std::string> notes = diagnosis.lines;
  if (diagnosis.lines_cut > kNotWorthALog) {
    const std::string draft = work.file("log");
    write_file(draft, end.output);
    put_in_place(draft, log_file);
    notes.push_back(fmt::format("({} more lines: {})", diagnosis.lines_cut, log_file));
  }
  std::string what = fmt::format("{} error{}", diagnosis.errors, diagnosis.errors == 1 ? "" : "s");
  if (diagnosis.errors == 0) {
    what = end.status.value_or(0) != 0 ? "the compiler ended with " + describe_wait_status(*end.status)
                                       : "the compiler made no library";
  }
  throw Error(Code::compile_failed, fmt::format("{} does not compile: {} ({})", recipe.source, what, compiler.version),
              std::move(notes));
}

/// Hashes what the compiler read. Nothing if something of it changed since `start_ns`: then nobody knows which content
/// the compiler saw.
std::optional<std::vector<HashedFile>> hash_included(const Recipe& recipe, const std::vector<std::string>& lists,
                                                     const WorkFolder& work, std::int64_t start_ns) {
  std::set<std::string> paths;
  for (const std::string& list : lists) {
    const auto makefile = read_text_file(list);
    if (!makefile) return std::nullopt;
    for (const std::string& name : parse_dependencies(*makefile)) paths.insert(absolute(name));
  }
  std::vector<HashedFile> included;
  // Of a text some compilers list the name that it was given, which is no file.
  const std::string given = absolute(recipe.source);
  for (const std::string& path : paths) {
    if (path.starts_with(work.path() + "/") || path == given) continue;
    const auto stamp = stamp_of(path);
    auto file = hash_file(path);
    if (!stamp || !file || stamp->changed_ns >= start_ns || path.find('\n') != std::string::npos) return std::nullopt;
    included.push_back(*std::move(file));
  }
  if (!recipe.from_text && read_text_file(recipe.source) != recipe.text) return std::nullopt;
  return included;
}

}  // namespace

std::string absolute(const std::string& path) { return std::filesystem::absolute(path).lexically_normal().string(); }

std::vector<std::string> compiler_flags(const CompileRequest& request, const Compiler& compiler,
                                        const std::string& processor, const std::string& include_root) {
  const bool kernels = request.form == SourceForm::kernels;
  std::vector<std::string> flags = {kernels ? "-std=c++20" : "-std=c++17",
                                    "-O2",
                                    "-g1",
                                    "-fPIC",
                                    "-shared",
                                    "-fvisibility-inlines-hidden",
                                    "-fdiagnostics-color=never"};
  // The assembler works while the compiler does.
  flags.emplace_back("-pipe");
  if (!processor.empty()) flags.emplace_back(kForThisProcessor);
  // A product and a sum are rounded each, also where the processor could do both at once: the same bits everywhere.
  flags.emplace_back("-ffp-contract=off");
  // Generated kernels mark their entries always_inline, which nothing calls: not worth a word.
  flags.emplace_back("-Wno-attributes");
  if (compiler.family == CompilerFamily::gcc) {
    // Unique symbols would be shared among kernels that have nothing to do with each other, and pin their libraries.
    flags.insert(flags.end(), {"-fno-gnu-unique", "-fmax-errors=20"});
  } else {
    flags.emplace_back("-ferror-limit=20");
  }
  // A missing function is an error now, with its place, and not when the library is loaded. A library finds its own
  // symbols before those of the program that loads it.
  flags.insert(flags.end(), {"-Wl,-z,defs", "-Wl,-Bsymbolic", "-D__CPU_SIM",
                             // Kernels that include none of our headers define what they miss, in another meaning.
                             "-D__aicore__=", "-D__gm__="});
  if (kernels) flags.emplace_back(request.core == CoreType::cube ? "-D__DAV_CUBE__" : "-D__DAV_VEC__");
  for (const std::string& define : request.defines) flags.push_back("-D" + define);
  for (const std::string& folder : request.include_dirs) flags.push_back("-I" + absolute(folder));
  flags.insert(flags.end(),
               {"-I" + include_root + "/kernel", "-I" + include_root, "-include",
                include_root + "/baton/kernel_library.hpp", "-include", include_root + "/kernel/printing.hpp"});
  for (const char* name : kPrintingFunctions) flags.push_back(fmt::format("-Wl,--wrap={}", name));
  // The last of such flags count.
  if (request.debug) flags.insert(flags.end(), {"-O0", "-g"});
  flags.insert(flags.end(), request.flags.begin(), request.flags.end());
  return flags;
}

ContentHash key_of(const Recipe& recipe, const CompileRequest& request) {
  SequenceHash key;
  key.add(kRecipeVersion);
  key.add(recipe.source);
  key.add(recipe.from_text ? "text" : "file");
  key.add(recipe.text);
  key.add(recipe.compiler.identity);
  key.add(recipe.flags);
  key.add(recipe.processor);
  if (recipe.device) {
    key.add(recipe.device->platform);
    key.add(recipe.device->compiler.identity);
    key.add(recipe.device->flags);
  }
  key.add(meaningful_variables());
  // Flags as they are may name files relative to this folder.
  if (!request.flags.empty()) key.add(std::filesystem::current_path().string());
  return key.finish();
}

void CompilerRuns::run(const Compiler& compiler, const ProgramCall& call, const std::string& output) {
  const ProgramEnd end = run_program(call, Deadline::after(timeout_));
  if (end.how == ProgramEnd::How::timed_out) {
    throw Error(Code::compile_failed,
                fmt::format("{} does not compile: {} did not end within {} s and was killed", recipe_.source,
                            call.arguments.front(), std::chrono::duration<double>(timeout_).count()),
                {"BATON_COMPILE_TIMEOUT gives it more time"});
  }
  if (end.status.value_or(0) != 0 || !stamp_of(output)) {
    report(recipe_, compiler, end, cache_.log_file(key_), work_);
  }
  messages_ += end.output;
}

Built build(const Recipe& recipe, ContentHash key, const Cache& cache, std::chrono::nanoseconds timeout) {
  const WorkFolder work(cache.work_parent());
  const std::string library = work.file("kernel.so");
  const std::string list = work.file("included");
  std::string source = recipe.source;
  if (recipe.from_text) {
    source = work.file("source.cpp");
    write_file(source, with_line_directive(recipe.source, recipe.text));
  }
  ProgramCall call{.arguments = recipe.compiler.words, .environment = compiler_environment(work.path())};
  call.arguments.insert(call.arguments.end(), recipe.flags.begin(), recipe.flags.end());
  call.arguments.insert(call.arguments.end(),
                        {"-MD", "-MF", list, "-MT", "kernel", "-o", library, "-x", "c++", source});
  if (recipe.bodies) {
    call.arguments.insert(call.arguments.end(), {"-DPTO_BODIES=extern", "-DBATON_PRINTING_IS_LINKED",
                                                 "-Wl,--gc-sections", "-x", "none", *recipe.bodies});
  }

  const std::int64_t start_ns = file_clock_ns();
  CompilerRuns runs{recipe, key, cache, work, timeout};
  std::vector<std::string> lists = {list};
  if (recipe.device) lists.push_back(build_for_device(runs, call, source, library));
  if (!recipe.device) runs.run(recipe.compiler, call, library);
  auto included = hash_included(recipe, lists, work, start_ns);
  return {.library = included ? cache.keep(key, recipe.stem, library, *std::move(included), work)
                              : cache.keep_once(recipe.stem, library),
          .messages = runs.messages()};
}

}  // namespace baton::kernel
