// The one table of environment variables: docs/reference/options.md, `baton doctor` and Options::from() read it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace baton {

/// One variable. `form` completes "accepted: ..."; `default_value` is as one would write it, empty if there is none.
struct OptionInfo {
  std::string_view name;
  std::string_view form;
  std::string_view default_value;
  std::string_view sentence;
};

/// All variables, those that people set before those that `baton run` sets.
[[nodiscard]] const std::vector<OptionInfo>& option_table();

/// What to say about a BATON_* name that is not in the table, with the nearest name that is, if one is near.
[[nodiscard]] std::string unknown_variable_message(std::string_view name);

}  // namespace baton
