// What a source that is compiled at run time holds.
#pragma once

#include <cstdint>

namespace baton {

enum class SourceForm : std::uint8_t {
  kernels,         // code for cores, and what BATON_ORCHESTRATION defines beside it
  orchestrations,  // functions with the API of pto_orchestration_api.h: C++17
};

}  // namespace baton
