// Many ranks in one process.
#pragma once

#include <functional>

#include <baton/domain.hpp>
#include <baton/export.hpp>

namespace baton {

struct InprocOptions {
  /// Threads that share the ranks. 0: as many as there are processors, at most one per rank.
  int threads = 0;
  /// Bytes of stack of each rank; the page below it is a guard.
  std::size_t stack_bytes = 256 * 1024;
};

/// Runs `body` once for each of `size` ranks, as fibers of a few threads of this process: a rank that waits gives its
/// thread to another. Returns when all have returned. If ranks threw, throws the error of the one that failed first;
/// the others see it as the death of that rank.
BATON_API void run_ranks(int size, const std::function<void(Domain)>& body, InprocOptions options = {});

}  // namespace baton
