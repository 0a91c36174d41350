#include "support/recorded.hpp"

#include <unistd.h>

#include <exception>
#include <filesystem>

#include <fmt/format.h>

#include "base/recorder.hpp"

namespace baton::test {

std::string Recorded::text() const {
  std::string text;
  for (const auto& race : findings.races) text += race.text + '\n';
  return text;
}

Recorded record(const std::function<void()>& body) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("baton-recorded-{}.trace", ::getpid());
  Recorded recorded;
  events::start_trace(path.string(), EventLevel::check);
  try {
    body();
  } catch (const std::exception& error) {
    recorded.failure = error.what();
  }
  events::stop_trace();
  recorded.findings = check::check_trace(path.string());
  std::filesystem::remove(path);
  return recorded;
}

}  // namespace baton::test
