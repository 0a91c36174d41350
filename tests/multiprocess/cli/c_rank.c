/* A rank in C: hands its number to the next one, wherever that is, and joins as often as its argument says. */
#include <baton/comm.h>

#include <stdio.h>
#include <stdlib.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, comm_last_error());
  return 1;
}

static int go_round(int rank, int size) {
  const uint32_t next = (uint32_t)((rank + 1) % size);
  CommHandle comm = comm_init(rank, size, NULL, getenv("BATON_JOB"));
  if (comm == NULL) return failed("comm_init");
  uint64_t context = 0;
  uint64_t mine = 0;
  if (comm_alloc_windows(comm, 4096, &context) != 0) return failed("comm_alloc_windows");
  if (comm_get_local_window_base(comm, &mine) != 0) return failed("comm_get_local_window_base");
  if (comm_put(comm, context, next, 64, &rank, sizeof rank) != 0) return failed("comm_put");
  if (comm_notify(comm, context, next, 0, 1) != 0) return failed("comm_notify");
  if (comm_wait(comm, context, (uint32_t)rank, 0, 1) != 0) return failed("comm_wait");
  const int came = *(const int*)(mine + 64);
  int fetched = -1;
  if (comm_get(comm, context, next, 64, &fetched, sizeof fetched) != 0) return failed("comm_get");
  if (comm_barrier(comm) != 0) return failed("comm_barrier");
  printf("rank %d was reached by rank %d, and finds %d there\n", rank, came, fetched);
  fflush(stdout);
  return comm_destroy(comm) == 0 ? 0 : failed("comm_destroy");
}

int main(int argc, char** argv) {
  const int rank = atoi(getenv("BATON_RANK"));
  const int size = atoi(getenv("BATON_SIZE"));
  for (int times = argc > 1 ? atoi(argv[1]) : 1; times > 0; --times) {
    const int code = go_round(rank, size);
    if (code != 0) return code;
  }
  return 0;
}
