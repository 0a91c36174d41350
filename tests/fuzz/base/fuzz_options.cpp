// Environments: entries, separated by zero bytes as in /proc/PID/environ. Refused with an error that names a variable,
// or read into options that keep their promises.
#include <algorithm>
#include <string>
#include <vector>

#include <baton/error.hpp>
#include <baton/options.hpp>

#include "base/option_table.hpp"
#include "fuzz_target.hpp"

namespace {

std::vector<std::string> split(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> entries(1);
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == 0) {
      entries.emplace_back();
    } else {
      entries.back() += static_cast<char>(data[i]);
    }
  }
  return entries;
}

void require_promises(const baton::Options& options) {
  FUZZ_REQUIRE(options.wait_timeout.count() > 0);
  FUZZ_REQUIRE(options.join_timeout.count() > 0);
  FUZZ_REQUIRE(options.log >= baton::LogLevel::trace && options.log <= baton::LogLevel::off);
  FUZZ_REQUIRE(!options.backend.empty());
  FUZZ_REQUIRE(options.processors.value_or(1) >= 1);
  FUZZ_REQUIRE(options.rank.value_or(0) >= 0);
  FUZZ_REQUIRE(options.size.value_or(1) >= 1);
  FUZZ_REQUIRE(!options.job || !options.job->empty());
  FUZZ_REQUIRE(!options.launcher || !options.launcher->empty());
}

bool is_known(const std::string& name) {
  return std::ranges::any_of(baton::option_table(), [&](const baton::OptionInfo& info) { return info.name == name; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> environment = split(data, size);
  try {
    std::vector<std::string> unknown;
    require_promises(baton::Options::from(environment, &unknown));
    for (const std::string& name : unknown) {
      FUZZ_REQUIRE(name.starts_with("BATON_") && name.find('=') == std::string::npos && !is_known(name));
      FUZZ_REQUIRE(baton::unknown_variable_message(name).find('\n') == std::string::npos);
    }
  } catch (const baton::Error& error) {
    FUZZ_REQUIRE(error.code() == baton::Code::bad_option);
    FUZZ_REQUIRE(error.message().find('\n') == std::string::npos);
    FUZZ_REQUIRE(is_known(error.message().substr(0, error.message().find('='))));
    FUZZ_REQUIRE(error.notes().size() == 1);
  }
  return 0;
}
