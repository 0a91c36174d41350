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
      std::string told = finding.text;
      // What has several lines goes on below its first.
      for (std::size_t at = told.find('\n'); at != std::string::npos; at = told.find('\n', at + 1)) {
        told.insert(at + 1, 23, ' ');
      }
      text += fmt::format("  {:<8} {:<13} {}\n", name_of(finding.verdict), finding.item, told);
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
  app_->add_option("-p,--platform", platform_, "Look only at this platform of devices, in full: cuda, a2a3 or a5.")
      ->type_name("NAME");
  app_->footer(
      "\nReturns 0 if Baton works here: if everything under \"backends\" is ok or limited; with --platform, if there "
      "is a "
      "device.");
}

int DoctorCommand::run(const std::vector<std::string>&) {
  if (!platform_.empty()) {
    const std::vector<Section> sections = {{"platform " + platform_, check_platform(platform_)}};
    const bool works = sections.front().second.front().verdict == Verdict::ok;
    fmt::print("{}\n", json_ ? as_json(sections, works).dump(2) : as_text(sections));
    return works ? 0 : kExitFailure;
  }
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
