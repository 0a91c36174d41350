// What sets the two platforms apart; each library has its own.
#pragma once

#include <cstdint>

namespace baton::ascend {

struct Generation {
  const char* platform;
  std::int64_t architecture;  // as the runtime numbers it
  bool has_fabric;            // some of its servers reach memory of each other's chips
};

extern const Generation kGeneration;

}  // namespace baton::ascend
