// Which of the simulated platforms a library is.
#pragma once

namespace baton::platforms {

extern const char* const kPlatformName;

}  // namespace baton::platforms
