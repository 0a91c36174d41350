// Profiles of tasks.
#pragma once

#include <string>

#include <baton/task_profile.hpp>

namespace baton::python {

/// "off", "summary" or "records". Throws Error (invalid_argument) that lists them.
[[nodiscard]] ProfileMode profile_mode_named(const std::string& name);

}  // namespace baton::python
