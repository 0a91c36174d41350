// Where in the kernel's source an instruction stands.
//
// A default argument evaluates the compiler's file and line where the instruction is called. It has to come last, yet
// instructions end with a pack of events, and nothing can have a default behind a pack that is deduced. So each
// instruction exists with a `Where` and without events, which is what kernels call; PTO_WITH_EVENTS (events.hpp) adds
// the form with one event or more, which knows the instruction's name but no line.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/target/core.hpp>

namespace baton::kernel {

struct Where {
  const char* file;
  uint32_t line;

  static constexpr AICORE Where current(const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE()) {
    return {file, line};
  }
  static constexpr AICORE Where unknown() { return {"", 0}; }
};

constexpr AICORE BatonPlace place_of(const char* instruction, Where where) {
  return {instruction, where.file, where.line, 0};
}

}  // namespace baton::kernel
