#include "platform/sim/platform_name.hpp"

namespace baton::platforms {

const char* const kPlatformName = BATON_PLATFORM_NAME;

}  // namespace baton::platforms
