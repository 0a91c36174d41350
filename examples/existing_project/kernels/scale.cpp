// args: x, out, factor. out = x * factor.
#include "lines.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  const int64_t count = count_of(args[1]);
  const float factor = from_u64<float>(static_cast<uint64_t>(args[2]));
  for (int64_t i = 0; i < count; i += kPiece) {
    const int64_t n = count - i < kPiece ? count - i : kPiece;
    Piece piece(n);
    TASSIGN(piece, 0);
    Line x = line_at(data_of(args[0]) + i, n), out = line_at(data_of(args[1]) + i, n);
    TLOAD(piece, x);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TMULS(piece, piece, factor);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(out, piece);
    pipe_barrier(PIPE_ALL);
  }
}
