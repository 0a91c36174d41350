// Kernels of chips that talk: of the tests, and of bench/cuda.
#include <baton_kernel.hpp>
#include <collectives/tile_lines.hpp>

namespace {

using baton::collectives::line_at;
using baton::collectives::LineTile;
using pto::comm::CommRemotePtr;
using pto::comm::NotifyOp;
using pto::comm::Signal;
using pto::comm::TNOTIFY;
using pto::comm::TPUT;
using pto::comm::TWAIT;
using pto::comm::WaitCmp;

}  // namespace

/// Round after round each of two ranks puts `source` into the window of the other and notifies it. `before`: rounds of
/// earlier calls.
BATON_KERNEL(ping_pong, In<float> source, InOut<float> window, InOut<int32_t> signals, const CommContext* context,
             int32_t rounds, int32_t before) {
  const auto rank = static_cast<int>(context->rankId);
  const auto count = static_cast<unsigned>(source.size());
  LineTile<float> tile(count);
  TASSIGN(tile, 0);
  auto from = line_at(source.data(), source.size());
  auto to = line_at(CommRemotePtr(context, window.data(), 1 - rank), source.size());
  const Signal here(signals.data());
  const Signal there(CommRemotePtr(context, signals.data(), 1 - rank));
  const auto send = [&] {
    TPUT(to, from, tile);
    TNOTIFY(there, 1, NotifyOp::AtomicAdd);
  };
  for (int32_t round = before + 1; round <= before + rounds; ++round) {
    if (rank == 0) send();
    TWAIT(here, round, WaitCmp::GE);
    if (rank == 1) send();
  }
}

/// Lap after lap a line of floats goes round, and everybody adds 1 to it.
BATON_KERNEL(relay, InOut<float> window, InOut<int32_t> signals, const CommContext* context, int32_t laps) {
  const auto rank = static_cast<int>(context->rankId);
  const int next = (rank + 1) % static_cast<int>(context->rankNum);
  const auto count = static_cast<unsigned>(window.size());
  LineTile<float> tile(count);
  TASSIGN(tile, 0);
  auto mine = line_at(window.data(), window.size());
  auto theirs = line_at(CommRemotePtr(context, window.data(), next), window.size());
  const Signal here(signals.data());
  const Signal there(CommRemotePtr(context, signals.data(), next));
  const auto hand_on = [&] {
    TLOAD(tile, mine);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADDS(tile, tile, 1.0F);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(theirs, tile);
    pipe_barrier(PIPE_ALL);
    TNOTIFY(there, 1, NotifyOp::AtomicAdd);
  };
  for (int32_t lap = 1; lap <= laps; ++lap) {
    if (rank == 0) hand_on();
    TWAIT(here, lap, WaitCmp::GE);
    if (rank != 0) hand_on();
  }
}

/// Waits for what nobody sends.
BATON_KERNEL(wait_in_vain, InOut<int32_t> signals) {
  const Signal here(signals.data() + 3);
  TWAIT(here, 7, WaitCmp::GE);
}

/// Takes an address that is in nobody's window.
BATON_KERNEL(lose_its_way, InOut<int32_t> signals, const CommContext* context) {
  (void)CommRemotePtr(context, signals.data(), static_cast<int>(context->rankNum));
}

/// Notifies, for the tasks of others that wait.
BATON_KERNEL(call_up, InOut<int32_t> signals, const CommContext* context, int32_t peer) {
  const Signal there(CommRemotePtr(context, signals.data(), peer));
  TNOTIFY(there, 1, NotifyOp::AtomicAdd);
}
