#include "platform/ascend/generation.hpp"

namespace baton::ascend {

extern const Generation kGeneration = {BATON_PLATFORM_NAME, BATON_ASCEND_ARCHITECTURE};

}  // namespace baton::ascend
