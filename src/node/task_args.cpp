#include <baton/task_args.hpp>

namespace baton {

Callable Callable::in_library(std::string path, std::string name, BatonCoreType core) {
  Callable made{Kernel{}};
  made.kernel_.core = core;
  made.library_ = std::move(path);
  made.name_ = std::move(name);
  return made;
}

Callable Callable::in_library(std::string path, const Kernel& kernel) {
  Callable made{kernel};
  made.library_ = std::move(path);
  made.name_ = kernel.name;
  return made;
}

Callable Callable::orchestration_in_library(std::string path, std::string name) {
  Callable made{ChipOrchestration{nullptr}};
  made.library_ = std::move(path);
  made.name_ = std::move(name);
  return made;
}

Callable Callable::program(ChipProgramParts parts) {
  Callable made{ChipOrchestration{nullptr}};
  made.kind_ = Kind::program;
  made.library_ = parts.library;
  made.name_ = parts.entry;
  made.parts_ = std::make_shared<const ChipProgramParts>(std::move(parts));
  return made;
}

std::string Callable::name() const {
  if (!name_.empty()) return name_;
  if (kind_ == Kind::orchestration) return "orchestration";
  return kernel_.name == nullptr ? "kernel" : kernel_.name;
}

}  // namespace baton
