// What the numbers of callables stand for, on a chip.
#pragma once

#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <string>

#include <baton/chip_program.hpp>
#include <baton/task_args.hpp>

#include "kernel/library.hpp"
#include "node/message.hpp"

namespace baton::node {

class ChipCallables {
 public:
  struct Entry {
    Kernel kernel{};                       // if there is no function
    ChipOrchestration function = nullptr;  //
    std::optional<ChipProgram> program;    //
    std::string name;                      //
    std::exception_ptr failure = nullptr;  // why it cannot be run
  };

  /// From MessageKind::define. What cannot be loaded fails when it is run.
  void define(MessageReader& message);
  /// Throws what made it impossible to load.
  [[nodiscard]] const Entry& at(std::uint32_t number) const;

 private:
  void load(Entry& entry, MessageReader& message);
  [[nodiscard]] const kernel::KernelLibrary& library_at(const std::string& file);

  std::deque<Entry> entries_;  // by number; their names stay where they are
  std::map<std::string, kernel::KernelLibrary> libraries_;
};

}  // namespace baton::node
