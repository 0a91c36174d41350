// What to say of an exception that may be of any type: user code throws what it likes.
#pragma once

#include <string>

namespace baton {

/// Inside a catch block: "std::range_error: no row 7", "the int 5", "an object of type ns::Stop".
[[nodiscard]] std::string describe_thrown();

}  // namespace baton
