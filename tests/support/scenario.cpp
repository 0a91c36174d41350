#include "support/scenario.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace baton::test {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"Threads", "OneFiberThread", "TwoFiberThreads", "Processes",
                                                    "Hosts"};

std::vector<Scenario>& all() {
  static std::vector<Scenario> scenarios;
  return scenarios;
}

}  // namespace

std::string_view name_of(Hosting hosting) noexcept { return kNames.at(static_cast<std::size_t>(hosting)); }

Hosting hosting_of(std::string_view name) {
  const auto* found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) throw std::invalid_argument("no such hosting: " + std::string(name));
  return static_cast<Hosting>(found - kNames.begin());
}

const std::vector<Scenario>& scenarios() { return all(); }

const Scenario& scenario_named(std::string_view name) {
  const auto found = std::find_if(all().begin(), all().end(), [&](const Scenario& s) { return s.name == name; });
  if (found == all().end()) throw std::invalid_argument("no such scenario: " + std::string(name));
  return *found;
}

void skip_scenario(std::string why) { throw ScenarioSkipped{std::move(why)}; }

bool add_scenario(Scenario scenario) {
  all().push_back(std::move(scenario));
  return true;
}

}  // namespace baton::test
