// What the measuring programs of MPI have in common. Compiled against each MPI that is installed.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <string>

namespace bench {

/// How a program waits for MPI: inside the library, or by asking it and giving the processor away in between.
enum class MpiWaiting { library, yield };

[[nodiscard]] inline MpiWaiting mpi_waiting_of(const std::string& method) {
  return method == "yield" ? MpiWaiting::yield : MpiWaiting::library;
}

inline void wait_for(MPI_Request request, MpiWaiting waiting) {
  if (waiting == MpiWaiting::library) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  int done = 0;
  for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) sched_yield();
}

/// The largest value of all ranks, for what surrounds the timed parts.
[[nodiscard]] inline double mpi_largest(double value) {
  MPI_Request request = MPI_REQUEST_NULL;
  double of_all = 0;
  MPI_Iallreduce(&value, &of_all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request);
  wait_for(request, MpiWaiting::yield);
  return of_all;
}

}  // namespace bench
