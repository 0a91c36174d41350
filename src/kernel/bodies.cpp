#include "kernel/bodies.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "kernel/key_lock.hpp"
#include "kernel/sealed_file.hpp"

namespace baton::kernel {
namespace {

/// Making the object takes as long as a few kernels. A cache with this many libraries is there to stay.
constexpr std::uint64_t kLibrariesOfACacheInUse = 8;

/// Whether nothing was asked for that may change what is shared.
bool is_plain(const CompileRequest& request, const Recipe& recipe) {
  const auto is_ours = [](const std::string& define) {
    return define.starts_with("PTO_") || define.starts_with("BATON_");
  };
  return request.form == SourceForm::kernels && !request.debug && request.flags.empty() && !recipe.device &&
         std::ranges::none_of(request.defines, is_ours);
}

Recipe recipe_of_bodies(const CompileRequest& plain, const Recipe& kernel, const std::string& include_root) {
  Recipe recipe{.source = "<what kernels share>",
                .from_text = true,
                .text = "#include <pto/pto-inst.hpp>\n",
                .stem = "bodies",
                .compiler = kernel.compiler,
                .flags = compiler_flags(plain, kernel.compiler, kernel.processor, include_root),
                .processor = kernel.processor,
                .device = {},
                .bodies = {}};
  // An object, of which the linker takes what a kernel uses: what a library offers to others it would keep.
  std::erase_if(recipe.flags, [](const std::string& flag) { return flag == "-shared" || flag.starts_with("-Wl,"); });
  recipe.flags.insert(recipe.flags.end(), {"-c", "-ffunction-sections", "-fvisibility=hidden", "-DPTO_BODIES="});
  return recipe;
}

}  // namespace

std::optional<std::string> bodies_for(const CompileRequest& request, const Recipe& recipe,
                                      const std::string& include_root, const Cache& cache,
                                      std::chrono::nanoseconds timeout) {
  if (!is_plain(request, recipe)) return std::nullopt;
  const CompileRequest plain{
      .source = {}, .text = {}, .target = request.target, .include_dirs = {}, .defines = {}, .flags = {}};
  const Recipe bodies = recipe_of_bodies(plain, recipe, include_root);
  const ContentHash key = key_of(bodies, plain);
  if (auto object = cache.find(key)) return object;
  if (cache.usage().libraries < kLibrariesOfACacheInUse) return std::nullopt;
  // Of a compiler that did not manage.
  const std::string note = cache.note_file(key);
  if (read_sealed(note, key)) return std::nullopt;
  // While somebody makes it, others do without.
  const auto lock = KeyLock::wait(cache.lock_file(), key, Deadline::after(std::chrono::nanoseconds(0)));
  if (!lock) return std::nullopt;
  try {
    std::string object = build(bodies, key, cache, timeout).library;
    log::info("what kernels share is compiled: {}", object);
    return object;
  } catch (const Error& error) {
    log::debug("what kernels share does not compile by itself: {}", error.what());
    if (error.code() == Code::compile_failed)
      write_sealed(WorkFolder(cache.work_parent()), note, key, "does not compile");
    return std::nullopt;
  }
}

}  // namespace baton::kernel
