#include "platform/ascend/generation.hpp"

namespace baton::ascend {

extern const Generation kGeneration = {BATON_PLATFORM_NAME, BATON_ASCEND_ARCHITECTURE, BATON_ASCEND_FABRIC};

}  // namespace baton::ascend
