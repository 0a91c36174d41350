#include "base/access_text.hpp"

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

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
/// Programs have few places: two that fall together are named anew by turns.
constexpr std::size_t kKnown = 256;
using KnownTexts = std::array<Known, kKnown>;

/// Found without a call.
[[gnu::tls_model("initial-exec")]] thread_local KnownTexts* own_texts = nullptr;

KnownTexts& make_texts() {
  thread_local const auto texts = std::make_unique<KnownTexts>();
  own_texts = texts.get();
  return *own_texts;
}

std::uint64_t number_of(const char* text) noexcept { return reinterpret_cast<std::uint64_t>(text); }

/// The addresses of texts that are the same mostly are.
std::size_t slot_of(const char* operation, const char* file, const char* kernel, std::uint32_t line) noexcept {
  const std::uint64_t mixed =
      (number_of(operation) + 3 * number_of(file) + 5 * number_of(kernel) + 7 * std::uint64_t{line}) *
      0x9e3779b97f4a7c15U;
  return mixed >> 56U;
}
static_assert(kKnown == 1U << 8U);

}  // namespace

TextId text_of_access(const char* operation, const EventSource& from) {
  const Place& where = from.where;
  const char* const file = where.line == 0 ? "" : where.file;
  const char* const kernel = from.kernel == nullptr ? "" : from.kernel;
  KnownTexts& texts = own_texts != nullptr ? *own_texts : make_texts();
  Known& known = texts[slot_of(operation, file, kernel, where.line)];
  // The addresses may have been those of a library that is gone: what is there now is compared.
  if (known.id != 0 && known.line == where.line && known.operation == operation && known.file == file &&
      known.kernel == kernel) {
    return known.id;
  }
  known = {operation, file, kernel, where.line, 0};
  std::string text = known.operation;
  if (!known.file.empty()) text += fmt::format(" at {}:{}", known.file, where.line);
  if (!known.kernel.empty()) text += fmt::format(" in kernel '{}'", known.kernel);
  known.id = events::text(text);
  return known.id;
}

}  // namespace baton
