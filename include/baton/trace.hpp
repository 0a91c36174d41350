// Writing a trace: what all ranks, chips and cores of a program do, for `baton trace`.
#pragma once

#include <string>

#include <baton/export.hpp>

namespace baton {

/// While the object lives, everything that this process does is recorded in a file. So is what chips do that a Worker
/// starts meanwhile. Processes that name the same file at the same time write to it together; BATON_TRACE and
/// `baton run --trace` do the same from outside.
class BATON_API Trace {
 public:
  /// Throws Error: invalid_argument if a trace is being written already, system if the file cannot be made.
  explicit Trace(const std::string& file);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace();
};

}  // namespace baton
