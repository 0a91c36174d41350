// Raw kernels, written as people write them for the chip.
#include <intrinsic.h>
#include <platform_comm/comm_context.h>
#include <tensor.h>
#include <pto/comm/pto_comm_inst.hpp>
#include <pto/pto-inst.hpp>

#include <csignal>
#include <ctime>
#include <new>
#include <stdexcept>

#include "kernels.hpp"

// Kernels are compiled with their assertions.
#undef NDEBUG
#include <cassert>

using namespace pto;

namespace {

constexpr int kRows = 16;
constexpr int kCols = 64;
using TileShape = Tile<TileType::Vec, float, kRows, kCols>;
using GlobalShape = GlobalTensor<float, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kCols, 1>>;

float* data_of(int64_t argument) {
  auto* tensor = reinterpret_cast<Tensor*>(argument);
  return reinterpret_cast<float*>(tensor->buffer.addr) + tensor->start_offset;
}

template <typename T>
T* remote_ptr(CommContext* ctx, T* local, int peer) {
  return reinterpret_cast<T*>(ctx->windowsIn[peer] + (reinterpret_cast<uint64_t>(local) - ctx->windowsIn[ctx->rankId]));
}

}  // namespace

extern "C" {

// args: a, b, out
void add_kernel(int64_t* args) {
  TileShape a, b, sum;
  TASSIGN(a, 0x0);
  TASSIGN(b, 0x1000);
  TASSIGN(sum, 0x2000);
  GlobalShape from_a(data_of(args[0])), from_b(data_of(args[1])), to(data_of(args[2]));
  TLOAD(a, from_a);
  TLOAD(b, from_b);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADD(sum, a, b);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, sum);
  pipe_barrier(PIPE_ALL);
}

// args: input, output, then scalars: CommContext*, window (kTileFloats floats, then a signal), round
void allreduce_kernel(int64_t* args) {
  auto* ctx = reinterpret_cast<CommContext*>(args[2]);
  auto* staged = reinterpret_cast<float*>(args[3]);
  auto* signal = reinterpret_cast<int32_t*>(staged + kTileFloats);
  const auto round = static_cast<int32_t>(args[4]);
  const int ranks = static_cast<int>(ctx->rankNum);

  TileShape mine, other;
  TASSIGN(mine, 0x0);
  TASSIGN(other, 0x2000);
  GlobalShape input(data_of(args[0])), output(data_of(args[1])), own(staged);
  TLOAD(mine, input);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  TSTORE(own, mine);
  pipe_barrier(PIPE_ALL);
  for (int peer = 0; peer < ranks; ++peer) {
    comm::Signal there(remote_ptr(ctx, signal, peer));
    comm::TNOTIFY(there, 1, comm::NotifyOp::AtomicAdd);
  }
  comm::Signal here(signal);
  comm::TWAIT(here, (2 * round + 1) * ranks, comm::WaitCmp::GE);
  TEXPANDS(mine, 0.0f);
  for (int peer = 0; peer < ranks; ++peer) {
    GlobalShape theirs(remote_ptr(ctx, staged, peer));
    TLOAD(other, theirs);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
    TADD(mine, mine, other);
    pipe_barrier(PIPE_ALL);
  }
  TSTORE(output, mine);
  pipe_barrier(PIPE_ALL);
  // Nobody may stage the next round before everybody has read this one.
  for (int peer = 0; peer < ranks; ++peer) {
    comm::Signal there(remote_ptr(ctx, signal, peer));
    comm::TNOTIFY(there, 1, comm::NotifyOp::AtomicAdd);
  }
  comm::TWAIT(here, (2 * round + 2) * ranks, comm::WaitCmp::GE);
}

// args: source, destination, then scalar: how it ends (0: waits, 1: forgets)
void copy_kernel(int64_t* args) {
  comm::AsyncSession session;
  Tile<TileType::Vec, uint8_t, 1, 256> scratch;
  TASSIGN(scratch, 0);
  comm::BuildAsyncSession(scratch, get_dma_workspace(args, 0), session);
  auto* source = reinterpret_cast<Tensor*>(args[0]);
  using Line = GlobalTensor<float, Shape<1, 1, 1, 1, DYNAMIC>, Stride<DYNAMIC, DYNAMIC, DYNAMIC, DYNAMIC, 1>>;
  const auto count = static_cast<int64_t>(source->shapes[0]);
  Line from(data_of(args[0]), Shape<1, 1, 1, 1, DYNAMIC>(count),
            Stride<DYNAMIC, DYNAMIC, DYNAMIC, DYNAMIC, 1>(count, count, count, count));
  Line to(data_of(args[1]), Shape<1, 1, 1, 1, DYNAMIC>(count),
          Stride<DYNAMIC, DYNAMIC, DYNAMIC, DYNAMIC, 1>(count, count, count, count));
  const comm::AsyncEvent event = comm::TGET_ASYNC(to, from, session);
  if (args[2] == 0) event.Wait(session);
}

// args: scalar: the address to write to
void wild_store_kernel(int64_t* args) { *reinterpret_cast<volatile int*>(args[0]) = 1; }

// args: scalars: the address to copy to, how many bytes
void wild_copy_kernel(int64_t* args) {
  static char bytes[4096];
  memcpy(reinterpret_cast<void*>(args[0]), bytes, static_cast<size_t>(args[1]));
  args[1] = 0;  // the copy is not the last thing, so that there is a place to return to
}

// args: scalar: depth
int64_t recurse(int64_t depth) {
  volatile char frame[1024] = {};
  frame[0] = static_cast<char>(depth);
  return depth == 0 ? frame[0] : recurse(depth - 1) + frame[0];
}
void deep_kernel(int64_t* args) { args[0] = recurse(args[0]); }

// args: scalar: a number that must not be negative
void assert_kernel(int64_t* args) { assert(args[0] >= 0); }

void trap_kernel(int64_t*) { __builtin_trap(); }

// args: scalar: what to throw, by number
void throw_kernel(int64_t* args) {
  struct Stop {
    int reason = 0;
  };
  switch (args[0]) {
    case 0: throw 5;
    case 1: throw "out of luck";
    case 2: throw Stop{};
    case 3: throw std::out_of_range("no row 7");
    default: throw std::bad_alloc();
  }
}

// Throws where it must not: the C++ runtime ends the program with the exception under way.
void terminate_kernel(int64_t* args) {
  const auto promise = [&]() noexcept { throw_kernel(args); };
  promise();
}

// Throws unless no exception is under way.
void uncaught_kernel(int64_t*) {
  if (std::uncaught_exceptions() != 0) throw std::logic_error("an exception of another kernel is under way");
}

// args: scalar: the address of a word; computes until it is 1, and calls nobody meanwhile
void spin_kernel(int64_t* args) {
  const auto* word = reinterpret_cast<const int32_t*>(args[0]);
  while (__atomic_load_n(word, __ATOMIC_RELAXED) != 1) {
  }
}

// Sets a word, then computes for ever.
void set_and_spin_kernel(int64_t* args) {
  __atomic_store_n(reinterpret_cast<int32_t*>(args[0]), 1, __ATOMIC_RELEASE);
  const volatile bool ends = false;
  while (!ends) {
  }
}

// Until a word is 1, and calls the C library meanwhile: the thread sanitizer delivers signals there.
void ask_time_kernel(int64_t* args) {
  const auto* word = reinterpret_cast<const int32_t*>(args[0]);
  while (__atomic_load_n(word, __ATOMIC_RELAXED) != 1) {
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
  }
}

// args: scalar: the address of a signal; asks for it again and again
void poll_kernel(int64_t* args) {
  comm::Signal signal(reinterpret_cast<int32_t*>(args[0]));
  while (!comm::TTEST(signal, 1, comm::WaitCmp::GE)) {
  }
}

// Waits in the C library for what never comes.
void pause_kernel(int64_t*) {
  sigset_t none;
  sigemptyset(&none);
  while (sigwaitinfo(&none, nullptr) < 0) {
  }
}

// Sets a flag that nobody awaits.
void forgotten_flag_kernel(int64_t*) { set_flag(PIPE_V, PIPE_MTE3, EVENT_ID3); }

// args: scalar: the address of a signal; waits for it to become 1
void wait_kernel(int64_t* args) {
  comm::Signal signal(reinterpret_cast<int32_t*>(args[0]));
  comm::TWAIT(signal, 1, comm::WaitCmp::GE);
}
}
