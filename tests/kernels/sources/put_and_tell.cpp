// Puts a line into the window of one rank by an asynchronous copy, whose signal is another rank's.
// args: in; CommContext*, window of floats, the rank it goes to, the address of the signal.
#include "lines.hpp"

#include "intrinsic.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  const int64_t count = count_of(args[0]);
  auto* ctx = reinterpret_cast<__gm__ CommContext*>(args[1]);
  auto* window = reinterpret_cast<__gm__ float*>(args[2]);
  Tile<TileType::Vec, uint8_t, 1, comm::sdma::UB_ALIGN_SIZE> scratch;
  TASSIGN(scratch, 0);
  comm::AsyncSession session;
  comm::BuildAsyncSession(scratch, get_dma_workspace(args, 0), session);
  Line source = line_at(data_of(args[0]), count);
  Line target = line_at(CommRemotePtr(ctx, window, static_cast<int>(args[3])), count);
  comm::Signal told(reinterpret_cast<__gm__ int32_t*>(args[4]));
  comm::AsyncEvent put = comm::TPUT_ASYNC(target, source, session, told, 1, comm::NotifyOp::AtomicAdd);
  put.Wait(session);
}
