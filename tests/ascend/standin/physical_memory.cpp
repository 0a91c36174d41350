#include "physical_memory.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "state.hpp"

namespace standin {
namespace {

/// A process that has ended, and that nobody has waited for yet, imports nothing.
bool is_running(std::int32_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(')');
  return end != std::string::npos && end + 2 < text.size() && text[end + 2] != 'Z' && text[end + 2] != 'X';
}

}  // namespace

std::map<std::uint64_t, std::shared_ptr<Physical>> physical;

bool add_importer(Shared& shared) {
  for (auto& importer : shared.importers) {
    std::int32_t nobody = 0;
    if (importer.compare_exchange_strong(nobody, ::getpid())) return true;
  }
  return false;
}
void remove_importer(Shared& shared) {
  for (auto& importer : shared.importers) {
    std::int32_t self = ::getpid();
    if (importer.compare_exchange_strong(self, 0)) return;
  }
}

bool has_importers(const Shared& shared) {
  return std::any_of(std::begin(shared.importers), std::end(shared.importers),
                     [](const auto& importer) { return importer.load() != 0 && is_running(importer.load()); });
}

std::shared_ptr<Physical> opened(int file) {
  void* const memory = ::mmap(nullptr, Shared::kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  auto made = std::make_shared<Physical>();
  made->file = file;
  made->context = current_context();
  if (memory != MAP_FAILED) made->shared = static_cast<Shared*>(memory);
  return made;
}

}  // namespace standin
