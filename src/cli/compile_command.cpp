#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/fail.hpp"
#include "base/processors.hpp"
#include "base/service_thread.hpp"
#include "base/text_file.hpp"
#include "cli/command.hpp"
#include "cli/compile_progress.hpp"
#include "cli/kernel_listing.hpp"
#include "kernel/cache.hpp"
#include "kernel/compile.hpp"
#include "kernel/library.hpp"
#include "kernel/running_groups.hpp"
#include "kernel/sealed_file.hpp"

namespace baton::cli {
namespace {

constexpr const char* kCompileExamples = R"(
Compiles kernels into the cache, where programs find them at once; without this command they are compiled at their first
use. They use all instructions of this processor; those that -o writes run on others, too. What follows `--` goes to the
compiler. BATON_CXX names another compiler, BATON_CACHE_DIR another cache.

examples:
  baton compile scale.cpp
  baton compile kernels/*.cpp -o build/kernels       libraries to take elsewhere
  baton compile --core cube matmul.cpp -I include -D TILE=64
  baton compile --orchestration layer.cpp            functions that submit kernels by their numbers
  baton compile --platform cuda scale.cpp            with code for NVIDIA GPUs beside that of the host
  baton compile --debug scale.cpp -- -Wall
  library=$(baton compile --print-path scale.cpp)
  baton compile --list scale.cpp other.so            what the kernels in there take
  baton compile --cache-info)";

/// What became of one source.
struct Outcome {
  std::optional<kernel::CompiledKernel> compiled;
  std::optional<Error> error;
};

std::filesystem::path place_of(const std::string& source, const std::string& folder) {
  return std::filesystem::path(folder) / (std::filesystem::path(source).stem().string() + ".so");
}

void check_names(const std::vector<std::string>& sources, const std::string& folder) {
  std::map<std::filesystem::path, std::string> places;
  for (const std::string& source : sources) {
    const auto [place, is_new] = places.try_emplace(place_of(source, folder), source);
    if (!is_new) {
      fail(Code::invalid_argument, "{} and {} would both become {}", place->second, source, place->first.string());
    }
  }
}

/// Copies the library to its place at once: a program that has the old one loaded keeps it.
std::string copy_to(const std::string& library, const std::filesystem::path& place) {
  const auto content = read_text_file(library);
  if (!content) fail_system("reading " + library);
  const std::string draft = place.string() + ".part";
  try {
    kernel::write_file(draft, *content);
    std::filesystem::permissions(draft, std::filesystem::status(library).permissions());
    kernel::put_in_place(draft, place.string());
  } catch (...) {
    static_cast<void>(::unlink(draft.c_str()));
    throw;
  }
  return place.string();
}

std::string describe_bytes(std::uint64_t bytes) {
  if (bytes < 1U << 10U) return fmt::format("{} bytes", bytes);
  if (bytes < 1U << 20U) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 0x1p10);
  if (bytes < 1U << 30U) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / 0x1p20);
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / 0x1p30);
}

int show_cache() {
  const kernel::Cache cache(options());
  const kernel::CacheUsage usage = cache.usage();
  fmt::print("folder   {}\nkernels  {}\nsize     {} of {}\n", cache.folder(), usage.libraries,
             describe_bytes(usage.bytes), describe_bytes(cache.limit_bytes()));
  return 0;
}

int clear_cache() {
  const kernel::Cache cache(options());
  const kernel::CacheUsage usage = cache.clear();
  fmt::print("removed {} kernels ({}) from {}\n", usage.libraries, describe_bytes(usage.bytes), cache.folder());
  return 0;
}

void show_kernels(const std::string& path, const std::string& library) {
  fmt::print("{}\n{}", path, list_kernels(kernel::load(library)));
}

extern "C" void end_with_compilers(int signal) {
  kernel::kill_running_groups();
  ::raise(signal);
}

/// An interrupt of this command is for its compilers, too.
void take_compilers_along() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;  // as nohup wants it
    struct sigaction action {};
    action.sa_handler = end_with_compilers;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    ::sigaction(signal, &action, nullptr);
  }
}

/// Compiles all of `requests`, `jobs` at a time.
std::vector<Outcome> compile_all(const std::vector<kernel::CompileRequest>& requests, int jobs,
                                 CompileProgress& progress) {
  std::vector<Outcome> outcomes(requests.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    // Each index is one thread's; join() hands the outcomes over.
    for (std::size_t i = next.fetch_add(1, std::memory_order_relaxed); i < requests.size();
         i = next.fetch_add(1, std::memory_order_relaxed)) {
      progress.started(requests[i].source);
      try {
        outcomes[i].compiled = kernel::compile(requests[i]);
        // A library without a kernel is found here and not when somebody wants to run it.
        const kernel::KernelLibrary library = kernel::load(outcomes[i].compiled->library);
        if (library.names().empty()) static_cast<void>(library.entry());
        progress.succeeded(requests[i].source, *outcomes[i].compiled);
      } catch (const Error& error) {
        outcomes[i].error = error;
        progress.failed();
      }
    }
  };
  std::vector<std::thread> threads;
  try {
    for (int i = 1; i < jobs; ++i) threads.push_back(start_thread(work));
  } catch (const Error&) {
    // Those that there are do it all.
  }
  work();
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

}  // namespace

CompileCommand::CompileCommand(CLI::App& baton) {
  app_ = baton.add_subcommand("compile", "Compile kernels into the cache.");
  app_->add_option("SOURCE", sources_, "The source files of kernels.");
  app_->add_option("-o,--output", output_dir_, "Also copy the libraries to this folder.")->type_name("DIR");
  app_->add_option("--core", core_, "What the kernels run on: vector (also aiv) or cube (also aic).")
      ->check(CLI::IsMember({"vector", "cube", "aiv", "aic"}))
      ->capture_default_str();
  app_->add_option("--platform", platform_,
                   "Also for this platform: cuda, which needs nvcc; a2a3 or a5, which need ccec.")
      ->type_name("NAME");
  app_->add_flag("--orchestration", orchestration_,
                 "The sources are orchestrations (pto_orchestration_api.h): C++17, no kernels.");
  app_->add_option("-I,--include", include_dirs_, "A folder of headers; may be given again.")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app_->add_option("-D,--define", defines_, "A macro; may be given again.")
      ->type_name("NAME[=VALUE]")
      ->allow_extra_args(false);
  app_->add_flag("--debug", debug_, "For a debugger: not optimised, with debug information (-O0 -g).");
  app_->add_option("-j,--jobs", jobs_, "How many to compile at a time; otherwise as many as there are processors.")
      ->check(CLI::PositiveNumber);
  app_->add_flag("--print-path", print_path_,
                 "Write the paths of the libraries, and nothing else, to standard output.");
  app_->add_flag("--list", list_, "Show the kernels in the sources, which may be libraries here, and what they take.");
  app_->add_flag("--cache-info", cache_info_, "Show where the cache is and what it holds.");
  app_->add_flag("--clear-cache", clear_cache_, "Remove everything from the cache.");
  app_->footer(kCompileExamples);
}

int CompileCommand::run(const std::vector<std::string>& after_dashes) {
  if (clear_cache_ && sources_.empty()) return clear_cache();
  if (cache_info_ && sources_.empty()) return show_cache();
  if (sources_.empty()) fail(Situation::missing_argument, "no SOURCE is named, as in: baton compile kernel.cpp");
  if (clear_cache_ || cache_info_) {
    fail(Situation::excluding_options, "--cache-info and --clear-cache go without sources");
  }
  if (list_) {
    for (const std::string& path : sources_) {
      if (is_library_path(path)) show_kernels(path, path);
    }
    std::erase_if(sources_, is_library_path);
    if (sources_.empty()) return 0;
  }
  std::vector<kernel::CompileRequest> requests;
  for (const std::string& source : sources_) {
    requests.push_back({.source = source,
                        .text = std::nullopt,
                        .core = core_ == "cube" || core_ == "aic" ? kernel::CoreType::cube : kernel::CoreType::vector,
                        .form = orchestration_ ? SourceForm::orchestrations : SourceForm::kernels,
                        .target = output_dir_.empty() ? kernel::Target::this_processor : kernel::Target::any_processor,
                        .platform = platform_,
                        .include_dirs = include_dirs_,
                        .defines = defines_,
                        .flags = {after_dashes.begin() + (after_dashes.empty() ? 0 : 1), after_dashes.end()},
                        .debug = debug_});
  }
  if (!output_dir_.empty()) {
    check_names(sources_, output_dir_);
    std::filesystem::create_directories(output_dir_);
  }
  take_compilers_along();
  CompileProgress progress(sources_.size(), CompileProgress::style_of_standard_error());
  const int jobs = std::min(jobs_ > 0 ? jobs_ : usable_processors(), static_cast<int>(sources_.size()));
  const std::vector<Outcome> outcomes = compile_all(requests, jobs, progress);
  progress.finish();

  int failed = 0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].error) {
      fmt::print(stderr, "baton: {}\n", outcomes[i].error->what());
      ++failed;
      continue;
    }
    std::string library = outcomes[i].compiled->library;
    if (!output_dir_.empty()) library = copy_to(library, place_of(sources_[i], output_dir_));
    if (list_) {
      show_kernels(sources_[i], library);
    } else if (print_path_) {
      fmt::print("{}\n", library);
    } else if (!output_dir_.empty()) {
      fmt::print("{} -> {}\n", sources_[i], library);
    }
  }
  if (failed > 0 && outcomes.size() > 1) fmt::print(stderr, "baton: {} of {} failed\n", failed, outcomes.size());
  return failed == 0 ? 0 : kExitFailure;
}

}  // namespace baton::cli
