#include "base/access_text.hpp"

#include <string>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "base/checked_event.hpp"
#include "base/recorder.hpp"

namespace baton {
namespace {

struct Known {
  std::string operation;
  std::string file;
  std::string kernel;
  std::uint32_t line = 0;
  TextId id = 0;
};

std::uint64_t number_of(const void* address) noexcept { return reinterpret_cast<std::uint64_t>(address); }

}  // namespace

TextId text_of_access(const char* operation, const EventSource& from) {
  thread_local std::unordered_map<std::uint64_t, Known> texts;
  const Place& where = from.where;
  const std::string_view file = where.line == 0 ? std::string_view() : where.file;
  const std::string_view kernel = from.kernel == nullptr ? std::string_view() : from.kernel;
  // The addresses may have been those of a library that is gone: what is there now is compared.
  Known& known =
      texts[mix(mix(number_of(operation), number_of(file.data())), mix(number_of(kernel.data()), where.line))];
  if (known.id != 0 && known.line == where.line && known.operation == operation && known.file == file &&
      known.kernel == kernel) {
    return known.id;
  }
  known = {operation, std::string(file), std::string(kernel), where.line, 0};
  std::string text = known.operation;
  if (!file.empty()) text += fmt::format(" at {}:{}", file, where.line);
  if (!kernel.empty()) text += fmt::format(" in kernel '{}'", kernel);
  known.id = events::text(text);
  return known.id;
}

}  // namespace baton
