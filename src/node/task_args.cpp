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

std::string Callable::name() const {
  if (!name_.empty()) return name_;
  if (kind_ == Kind::orchestration) return "orchestration";
  return kernel_.name == nullptr ? "kernel" : kernel_.name;
}

}  // namespace baton
