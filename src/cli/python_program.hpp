// Programs of Python that the command starts.
#pragma once

#include <string>
#include <vector>

namespace baton::cli {

/// This process becomes `python words...`, which finds the package of Baton if it was built beside this program. The
/// Python is the one that PYTHON names, else the one the package was built for, else python3. Throws Error
/// (launch_failed) if there is none.
[[noreturn]] void become_python(std::vector<std::string> words);

}  // namespace baton::cli
