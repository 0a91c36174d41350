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
#include "node/sent_libraries.hpp"

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

  /// `fetch`: of libraries that this host may lack; none where it has the files of the node.
  explicit ChipCallables(SentLibraries::Fetch fetch = {}) : sent_(std::move(fetch)) {}

  /// From MessageKind::define. What cannot be loaded fails when it is run.
  void define(MessageReader& message);
  /// Throws what made it impossible to load.
  [[nodiscard]] const Entry& at(std::uint32_t number) const;

 private:
  void load(Entry& entry, MessageReader& message);
  [[nodiscard]] const kernel::KernelLibrary& library_at(const std::string& file);

  [[nodiscard]] ChipProgramParts parts_here(ChipProgramParts parts);

  SentLibraries sent_;
  std::deque<Entry> entries_;  // by number; their names stay where they are
  std::map<std::string, kernel::KernelLibrary> libraries_;
};

}  // namespace baton::node
