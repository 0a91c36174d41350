#include "node/chip_callables.hpp"

#include "base/fail.hpp"
#include "node/code_address.hpp"
#include "node/program_message.hpp"
#include "node/task_message.hpp"

// The cores of this process; part of the kernel interface.
extern "C" BatonCore* baton_core_current();  // NOLINT(readability-redundant-declaration)

namespace baton::node {

void ChipCallables::define(MessageReader& message) {
  const auto number = message.get<std::uint32_t>();
  while (entries_.size() <= number) entries_.emplace_back();
  Entry& entry = entries_[number];
  try {
    load(entry, message);
  } catch (...) {
    entry.failure = std::current_exception();
  }
}

void ChipCallables::load(Entry& entry, MessageReader& message) {
  const auto kind = message.get<CallableWire>();
  entry.name = message.get_text();
  entry.kernel.name = entry.name.c_str();
  entry.kernel.core = message.get<std::uint32_t>();
  const std::string file = message.get_text();
  const auto function = message.get<std::uint64_t>();
  const auto signature = message.get<std::uint64_t>();
  for (const OfferedLibrary& library : get_offers(message)) sent_.note(library);
  switch (kind) {
    case CallableWire::linked_kernel:
      entry.kernel.function = reinterpret_cast<BatonKernelFunction>(load_code({file, function}));
      if (signature != 0) {
        entry.kernel.signature = static_cast<const BatonKernelSignature*>(load_code({file, signature}));
      }
      return;
    case CallableWire::orchestration:
      entry.function = reinterpret_cast<ChipOrchestration>(load_code({file, function}));
      return;
    case CallableWire::library_orchestration:
      entry.function = reinterpret_cast<ChipOrchestration>(library_at(file).orchestration(entry.name));
      return;
    case CallableWire::program: entry.program.emplace(parts_here(get_program(message))); return;
    case CallableWire::library_kernel: {
      const std::uint32_t core = entry.kernel.core;
      entry.kernel = library_at(file).kernel(entry.name);
      entry.kernel.name = entry.name.c_str();
      // A library cannot tell for which core a raw kernel was compiled.
      if (core == BATON_CORE_CUBE) entry.kernel.core = core;
      return;
    }
  }
  fail(Code::protocol, "a callable of an unknown kind ({})", static_cast<std::uint32_t>(kind));
}

ChipProgramParts ChipCallables::parts_here(ChipProgramParts parts) {
  parts.library = sent_.place_of(parts.library);
  for (ProgramKernel& kernel : parts.kernels) kernel.library = sent_.place_of(kernel.library);
  return parts;
}

const kernel::KernelLibrary& ChipCallables::library_at(const std::string& file) {
  auto library = libraries_.find(file);
  if (library == libraries_.end()) {
    library = libraries_.emplace(file, kernel::load(sent_.place_of(file))).first;
    library->second.bind_core(baton_core_current);
  }
  return library->second;
}

const ChipCallables::Entry& ChipCallables::at(std::uint32_t number) const {
  if (number >= entries_.size()) fail(Code::protocol, "a task of the callable {}, which was never defined", number);
  const Entry& entry = entries_[number];
  if (entry.failure) std::rethrow_exception(entry.failure);
  return entry;
}

}  // namespace baton::node
