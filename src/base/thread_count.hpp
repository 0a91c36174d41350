// How many threads a program may ask for.
#pragma once

#include "base/fail.hpp"

namespace baton {

/// More than the processors of any machine so far: a larger number is a mistake, and would take the machine's memory.
inline constexpr int kMostThreads = 1024;

/// 0 stands for a number that fits the machine. Throws Error (invalid_argument); `who`, as "a chip", would have them.
inline void check_thread_count(const char* who, int asked) {
  if (asked >= 0 && asked <= kMostThreads) return;
  fail(Situation::thread_count, "{} cannot have {} threads; 0 to {} are possible", who, asked, kMostThreads);
}

}  // namespace baton
