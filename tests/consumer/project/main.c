// The C interface, from C: one rank, one window, one barrier.
#include <baton/comm.h>

#include <stdio.h>

int main(void) {
  CommHandle comm = comm_init(0, 1, NULL, "inproc:consumer");
  uint64_t context = 0;
  if (comm == NULL || comm_alloc_windows(comm, 4096, &context) != 0 || comm_barrier(comm) != 0 ||
      comm_destroy(comm) != 0) {
    fprintf(stderr, "%s\n", comm_last_error());
    return 1;
  }
  return 0;
}
