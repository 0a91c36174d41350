#include "kernel/compile.hpp"

#include <cstdlib>
#include <filesystem>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/recorder.hpp"
#include "base/text_file.hpp"
#include "kernel/ascend_compiler.hpp"
#include "kernel/bodies.hpp"
#include "kernel/build.hpp"
#include "kernel/cache.hpp"
#include "kernel/device_compiler.hpp"
#include "kernel/include_root.hpp"
#include "kernel/key_lock.hpp"
#include "kernel/processor.hpp"

namespace baton::kernel {
namespace {

using Clock = std::chrono::steady_clock;

std::string source_text(const CompileRequest& request) {
  if (request.text) return *request.text;
  std::error_code ignored;
  if (std::filesystem::is_directory(request.source, ignored)) {
    fail(Code::invalid_argument, "{} is a folder, not the source of a kernel", request.source);
  }
  auto text = read_text_file(request.source);
  if (!text && errno == ENOENT) fail(Situation::no_such_source, "there is no kernel source {}", request.source);
  if (!text && errno == ENODEV)
    fail(Code::invalid_argument, "{} is a device, not the source of a kernel", request.source);
  if (!text) fail_system(fmt::format("reading the kernel source {}", request.source));
  return *std::move(text);
}

/// Letters and digits of the source's name, for people who look at a list of loaded libraries.
std::string stem_of(const std::string& source) {
  std::string stem = std::filesystem::path(source).stem().string();
  for (char& c : stem) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') c = '_';
  }
  return stem.empty() ? "kernel" : stem.substr(0, 60);
}

Recipe recipe_of(const CompileRequest& request, const Options& options, const std::string& include_root,
                 const Cache& cache) {
  const char* path = std::getenv("PATH");
  Recipe recipe{.source = request.text ? request.source : absolute(request.source),
                .from_text = request.text.has_value(),
                .text = source_text(request),
                .stem = stem_of(request.source),
                .compiler = find_compiler(options.compiler, path == nullptr ? "/usr/bin:/bin" : path, cache,
                                          Deadline::after(options.compile_timeout)),
                .flags = {},
                .processor = request.target == Target::this_processor ? this_processor() : "",
                .device = {},
                .bodies = {}};
  recipe.flags = compiler_flags(request, recipe.compiler, recipe.processor, include_root);
  if (is_for_device(request.platform) && request.form == SourceForm::kernels) {
    const Deadline deadline = Deadline::after(options.compile_timeout);
    const std::string search = path == nullptr ? "" : path;
    const bool ascend = is_ascend(request.platform);
    recipe.device =
        DeviceRecipe{.platform = request.platform,
                     .compiler = ascend ? find_ccec(search, cache, deadline)
                                        : find_nvcc(options, search, include_root, cache, deadline),
                     .flags = ascend ? ccec_flags(request, include_root) : nvcc_flags(request, options, include_root),
                     .core = request.core};
  }
  // Orchestrations call Baton, which is there when the library is loaded. The last of these flags counts.
  if (recipe.text.find("baton/orchestration.hpp") != std::string::npos) recipe.flags.emplace_back("-Wl,-z,undefs");
  return recipe;
}

}  // namespace

CompiledKernel compile(const CompileRequest& request, const Options& options) {
  const auto start = Clock::now();
  const std::uint64_t began = ticks();
  const Cache cache(options);
  const std::string include_root = find_include_root(options.include_dir);
  Recipe recipe = recipe_of(request, options, include_root, cache);
  const ContentHash key = key_of(recipe, request);
  enum class Came : std::uint8_t { compiled, found };
  const auto record = [&](Came came) {
    if (!events::wants(EventKind::compile)) return;
    events::record({.begin = began,
                    .end = ticks(),
                    .kind = EventKind::compile,
                    .object = events::text(recipe.source),
                    .a = came == Came::found ? 1U : 0U});
  };
  const auto from_cache = [&](std::string library) {
    record(Came::found);
    log::info("{} is compiled already: {}", recipe.source, library);
    return CompiledKernel{std::move(library), Origin::cache, Clock::now() - start, {}};
  };
  if (auto library = cache.find(key)) return from_cache(*std::move(library));

  const auto lock = KeyLock::wait(cache.lock_file(), key, Deadline::after(options.compile_timeout));
  if (!lock) log::debug("somebody compiles {} for too long; compiling it here as well", recipe.source);
  if (auto library = cache.find(key)) return from_cache(*std::move(library));
  recipe.bodies = bodies_for(request, recipe, include_root, cache, options.compile_timeout);
  Built built = build(recipe, key, cache, options.compile_timeout);
  cache.trim();
  record(Came::compiled);
  log::info("{} was compiled in {:.2f} s: {}", recipe.source,
            std::chrono::duration<double>(Clock::now() - start).count(), built.library);
  return {std::move(built.library), Origin::compiled, Clock::now() - start, std::move(built.messages)};
}

}  // namespace baton::kernel
