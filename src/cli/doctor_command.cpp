#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/doctor/findings.hpp"
#include "cli/version.hpp"

namespace baton::cli {
namespace {

using Section = std::pair<std::string, std::vector<Finding>>;

std::string as_text(const std::vector<Section>& sections) {
  std::string text;
  for (const auto& [title, findings] : sections) {
    text += fmt::format("{}\n", title);
    for (const Finding& finding : findings) {
      text += fmt::format("  {:<8} {:<13} {}\n", name_of(finding.verdict), finding.item, finding.text);
    }
  }
  return text;
}

nlohmann::json as_json(const std::vector<Section>& sections, bool works) {
  nlohmann::json out{{"version", version()}, {"works", works}};
  for (const auto& [title, findings] : sections) {
    for (const Finding& finding : findings) {
      out[title].push_back({{"item", finding.item},
                            {"verdict", name_of(finding.verdict)},
                            {"essential", finding.need == Need::essential},
                            {"text", finding.text}});
    }
  }
  return out;
}

}  // namespace

DoctorCommand::DoctorCommand(CLI::App& baton) {
  app_ = baton.add_subcommand("doctor", "Say what works on this machine, and what is missing.");
  app_->add_flag("--json", json_, "Write JSON.");
  app_->footer("\nReturns 0 if Baton works here: if everything under \"backends\" is ok or limited.");
}

int DoctorCommand::run(const std::vector<std::string>&) {
  const std::vector<Section> sections = {{"backends", check_backends()},
                                         {"limits", check_limits()},
                                         {"hosts", check_hosts()},
                                         {"optional", check_optional()}};
  const bool works = std::none_of(sections.begin(), sections.end(), [](const Section& section) {
    return std::any_of(section.second.begin(), section.second.end(), [](const Finding& finding) {
      return finding.need == Need::essential && finding.verdict == Verdict::missing;
    });
  });
  if (json_) {
    fmt::print("{}\n", as_json(sections, works).dump(2));
  } else {
    fmt::print("{}\n{}\n", as_text(sections), works ? "Baton works here." : "Baton does not work here.");
  }
  return works ? 0 : kExitFailure;
}

}  // namespace baton::cli
