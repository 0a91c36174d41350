// args: a, b, out. out = a + b.
#include "lines.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  const int64_t count = count_of(args[2]);
  for (int64_t i = 0; i < count; i += kPiece) {
    const int64_t n = count - i < kPiece ? count - i : kPiece;
    Piece left(n), right(n);
    TASSIGN(left, 0);
    TASSIGN(right, kSecond);
    Line a = line_at(data_of(args[0]) + i, n), b = line_at(data_of(args[1]) + i, n),
         out = line_at(data_of(args[2]) + i, n);
    TLOAD(left, a);
    TLOAD(right, b);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(left, left, right);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(out, left);
    pipe_barrier(PIPE_ALL);
  }
}
