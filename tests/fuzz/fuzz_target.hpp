// What a fuzz target defines, and how it says that a rule was broken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

/// Called with one input, many times in one process. Returns 0. Ends the process if the code under test misbehaves.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// Ends the process, as libFuzzer expects of a finding, unless `rule` holds.
#define FUZZ_REQUIRE(rule)                                                         \
  do {                                                                             \
    if (!(rule)) {                                                                 \
      std::fprintf(stderr, "%s:%d: broken rule: %s\n", __FILE__, __LINE__, #rule); \
      std::abort();                                                                \
    }                                                                              \
  } while (false)
