// Programs that come with the library.
#pragma once

#include <string>

namespace baton::job {

/// The path of `name`, a program of Baton's: beside libbaton, in the folders of programs beside its folder, or on the
/// PATH. Throws Error (launch_failed) that names where it looked.
[[nodiscard]] std::string find_program_of_baton(const std::string& name);

}  // namespace baton::job
