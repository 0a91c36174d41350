#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "base/fail.hpp"
#include "base/quote.hpp"
#include "cli/command.hpp"
#include "trace/export.hpp"

namespace baton::cli {
namespace {

constexpr const char* kTraceExamples = R"(
A trace is what `baton run --trace FILE`, BATON_TRACE=FILE, baton.trace(FILE) in Python or baton::Trace in C++ wrote. It may
be read while it is written, and after its writers died.

examples:
  baton run --trace run.trace -n 4 ./train
  baton trace run.trace                         where the time of each rank went, who waited for whom
  baton trace run.trace --html run.html         a page for a browser; it needs no network
  baton trace run.trace --perfetto run.pftrace  for ui.perfetto.dev
  baton trace before.trace --diff now.trace     what takes longer now)";

/// Writes a file through `write`. Throws Error (system).
template <class Write>
void write_file(const std::string& path, Write&& write) {
  std::ofstream out(path, std::ios::binary);
  if (out) write(out);
  out.flush();
  if (!out) fail_system(fmt::format("writing {}", path));
  fmt::print("wrote {}\n", path);
}

trace::Trace read(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw Error(Code::invalid_argument, fmt::format("there is no file {}", quote(path)), {},
                "`baton run --trace FILE` writes a trace, and so does a program with BATON_TRACE=FILE.");
  }
  return trace::read_trace(path);
}

}  // namespace

TraceCommand::TraceCommand(CLI::App& baton) {
  app_ = baton.add_subcommand("trace", "Show what a trace tells, or write it in another format.");
  app_->add_option("FILE", file_, "The trace.")->required();
  app_->add_option("--html", page_, "Write a page for a browser.")->type_name("OUT");
  app_->add_option("--json", json_, "Write Chrome's JSON.")->type_name("OUT");
  app_->add_option("--perfetto", perfetto_, "Write Perfetto's format.")->type_name("OUT");
  app_->add_option("--diff", other_, "Show what takes longer in another trace.")->type_name("OTHER");
  app_->footer(kTraceExamples);
}

int TraceCommand::run(const std::vector<std::string>&) {
  const trace::Trace trace = read(file_);
  if (!other_.empty()) fmt::print("{}", trace::difference(trace, read(other_)));
  const bool writes = !page_.empty() || !json_.empty() || !perfetto_.empty();
  if (!other_.empty() && !writes) return 0;
  const trace::Analysis analysis = trace::analyse(trace);
  if (!page_.empty()) {
    const std::string title = std::filesystem::path(file_).filename().string();
    write_file(page_, [&](std::ostream& out) { trace::write_page(out, trace, analysis, title); });
  }
  if (!json_.empty()) write_file(json_, [&](std::ostream& out) { trace::write_json(out, trace, analysis); });
  if (!perfetto_.empty()) {
    write_file(perfetto_, [&](std::ostream& out) { trace::write_perfetto(out, trace, analysis); });
  }
  if (!writes) fmt::print("{}", trace::summary(trace, analysis));
  return 0;
}

}  // namespace baton::cli
