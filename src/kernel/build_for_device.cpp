#include "kernel/build_for_device.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "kernel/ascend_compiler.hpp"
#include "kernel/device_compiler.hpp"
#include "kernel/elf_file.hpp"
#include "kernel/sealed_file.hpp"

namespace baton::kernel {
namespace {

ProgramCall call_of(std::vector<std::string> words, std::vector<std::string> more, const ProgramCall& host) {
  words.insert(words.end(), more.begin(), more.end());
  return {.arguments = std::move(words), .environment = host.environment};
}

/// The words of the device's compiler, with its flags.
std::vector<std::string> words_of(const DeviceRecipe& device) {
  std::vector<std::string> words = device.compiler.words;
  words.insert(words.end(), device.flags.begin(), device.flags.end());
  return words;
}

/// Those of a kernel's author, among what an object file of the host defines.
std::vector<std::string> kernels_of(const std::string& object) {
  std::vector<std::string> names;
  const ElfFile file(object, ElfFile::Form::object);
  for (const ElfSymbol& symbol : file.exported()) {
    const std::string_view name = symbol.name;
    const bool typed = name.starts_with("baton_kernel_") && name != "baton_kernel_bind_core";
    if (symbol.function && !symbol.hidden && (typed || is_plain_name(name))) names.push_back(symbol.name);
  }
  std::ranges::sort(names);
  return names;
}

/// Part of the library by the name `name`.
std::string embedded(CompilerRuns& runs, const std::string& image, const std::string& name, CoreType core) {
  std::string path = runs.work().file(name + ".s");
  write_file(path, embedding_of(image, name, magic_of(core)));
  return path;
}

/// Code for the matrix unit. Returns the text that makes it a part of the library.
std::string sessions_for_cuda(CompilerRuns& runs, const ProgramCall& host, const DeviceRecipe& device) {
  const std::string source = runs.work().file("sessions.cpp");
  const std::string image = runs.work().file("sessions.cubin");
  write_file(source, sessions_source());
  DeviceRecipe sessions = device;
  sessions.flags = sessions_flags(device.flags);
  runs.run(device.compiler, call_of(words_of(sessions), {"-o", image, "-x", "cu", source}, host), image);
  return embedded(runs, image, device.platform + std::string(kSessions), device.core);
}

std::string build_for_cuda(CompilerRuns& runs, const ProgramCall& host, const std::string& source,
                           const std::string& library) {
  const DeviceRecipe& device = *runs.recipe().device;
  const std::string image = runs.work().file("kernel.cubin");
  std::string list = runs.work().file("included_for_device");
  runs.run(device.compiler, call_of(words_of(device), {"-MD", "-MF", list, "-o", image, "-x", "cu", source}, host),
           image);
  std::vector<std::string> link = {"-x", "assembler", embedded(runs, image, device.platform, device.core)};
  if (device.core == CoreType::cube) link.push_back(sessions_for_cuda(runs, host, device));
  runs.run(runs.recipe().compiler, call_of(host.arguments, std::move(link), host), library);
  return list;
}

/// Code for one kind of core. Returns the text that makes it a part of the library.
std::string image_for_ascend(CompilerRuns& runs, const ProgramCall& host, const std::string& entries,
                             const std::string& list, const DeviceRecipe& device) {
  const std::string code = runs.work().file(device.platform + ".o");
  const std::string image = runs.work().file(device.platform + ".image");
  runs.run(device.compiler, call_of(words_of(device), {"-MD", "-MF", list, "-o", code, "-x", "cce", entries}, host),
           code);
  runs.run(device.compiler,
           call_of({linker_of(device.compiler)}, {"-m", "aicorelinux", "-Ttext=0", "-static", "-n", "-o", image, code},
                   host),
           image);
  return embedded(runs, image, device.platform, device.core);
}

/// Whether some are for cube cores in a source that is for vector cores.
bool has_cube_kernels(const Recipe& recipe) { return recipe.text.find("BATON_CUBE_KERNEL") != std::string::npos; }

/// The host's object first: it tells the names of the kernels.
std::string build_for_ascend(CompilerRuns& runs, const ProgramCall& host, const std::string& source,
                             const std::string& library) {
  const Recipe& recipe = runs.recipe();
  const DeviceRecipe& device = *recipe.device;
  const std::string object = runs.work().file("kernel.o");
  ProgramCall compile = host;
  std::ranges::replace(compile.arguments, library, object);
  compile.arguments.emplace_back("-c");
  if (recipe.compiler.family == CompilerFamily::clang) {
    compile.arguments.emplace_back("-Wno-unused-command-line-argument");
  }
  runs.run(recipe.compiler, compile, object);

  const std::string entries = runs.work().file("entries.cpp");
  write_file(entries, entries_for(source, kernels_of(object), device.core));
  std::string list = runs.work().file("included_for_device");
  std::vector<std::string> link = recipe.compiler.words;
  link.insert(link.end(), recipe.flags.begin(), recipe.flags.end());
  link.insert(link.end(), {"-o", library, object, "-x", "assembler"});
  link.push_back(image_for_ascend(runs, host, entries, list, device));
  if (device.core == CoreType::vector && has_cube_kernels(recipe)) {
    DeviceRecipe cube = device;
    cube.core = CoreType::cube;
    cube.flags = flags_for(CoreType::cube, cube.flags);
    cube.platform += "_cube";
    link.push_back(image_for_ascend(runs, host, entries, list + "_cube", cube));
  }
  runs.run(recipe.compiler, {.arguments = std::move(link), .environment = host.environment}, library);
  return list;
}

}  // namespace

std::string build_for_device(CompilerRuns& runs, const ProgramCall& host, const std::string& source,
                             const std::string& library) {
  return is_ascend(runs.recipe().device->platform) ? build_for_ascend(runs, host, source, library)
                                                   : build_for_cuda(runs, host, source, library);
}

}  // namespace baton::kernel
