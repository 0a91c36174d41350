// What the host and the cores of a GPU agree on: a run of a graph, in memory that both read.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <pto/target/compiler.hpp>

namespace baton::kernel {
struct OrderMemory;
}

namespace baton::cuda {

/// Threads of a core. The last warp has one, the director, which reads the kernel; the others are lanes, on which
/// instructions work: for the matrix unit they are groups of four warps.
inline constexpr uint32_t kWarp = 32;
inline constexpr uint32_t kMostThreads = 9 * kWarp;

/// Kernels are compiled for this many registers (-maxrregcount): what a thread of run_graph() has. One that took more
/// could not be linked with it.
inline constexpr uint32_t kRegistersOfThread = 128;
inline constexpr uint32_t kRegistersOfMultiprocessor = 64 * 1024;

/// Of a core that shares its multiprocessor with others, so that there are registers for all; 0 if there are not.
constexpr uint32_t threads_of_core(uint32_t cores_of_multiprocessor) {
  // Blocks are given registers for four warps at a time, one in each quarter of a multiprocessor.
  constexpr uint32_t kUnit = 4 * kWarp;
  const uint32_t units = kRegistersOfMultiprocessor / (kRegistersOfThread * kUnit) / cores_of_multiprocessor;
  return units * kUnit < kMostThreads ? units * kUnit : kMostThreads;
}
/// Of a core that uses the matrix unit, which leaves registers for the sums of a product to each of its kMostThreads.
inline constexpr uint32_t kMostMatrixThreads = 12 * kWarp;
/// Threads of such a core that start loads, each in a warp of its own. They take orders in turns: a step of a product
/// has two, and one thread takes longer for them than the matrix unit for the step.
inline constexpr uint32_t kLoaders = 2;
static_assert(kMostThreads + kLoaders * kWarp <= kMostMatrixThreads);
static_assert(threads_of_core(1) == kMostThreads && threads_of_core(4) == 4 * kWarp && threads_of_core(5) == 0);

/// What kernels are written for, by tile type. Vec is shared memory, and may be less; the others lie in the memory of
/// the GPU.
inline constexpr uint64_t kBufferBytes[] = {192 * 1024, 512 * 1024, 64 * 1024, 64 * 1024, 128 * 1024, 1024, 2 * 1024};

/// Shared memory of a core before its Vec buffer.
inline constexpr uint32_t kControlBytes = 14 * 1024;

/// Of a packet: most tasks have no more.
inline constexpr uint32_t kInlineSlots = 14;
inline constexpr uint32_t kInlineTold = 14;
/// Descriptors of tensors that lie behind each packet of a graph, at most. A kernel reads them again and again: in the
/// memory of the GPU that would take longer than everything else.
inline constexpr uint32_t kInlineTensors = 4;
inline constexpr uint32_t kTensorBytes = 128;
/// Words from one counter of arrivals to the next: two do not share a sector.
inline constexpr uint32_t kArrivalStride = 8;

/// A comparison with memory: whether a task runs, or what it waits for. Comparisons are numbered as
/// pto::comm::WaitCmp.
struct Condition {
  uint64_t address;
  int64_t value;
  uint32_t comparison;
  uint32_t type;  // BatonType, an integer
};

enum PacketFlag : uint32_t {
  kHasPredicate = 1,  // the kernel is called only if the condition holds
  kHasCounter = 2,    // the task waits until the condition holds
  kIsAfter = 4,       // it depends on others, maybe on some that its core ran before
  kIsCube = 8,        // its kernel multiplies matrices
  kIsTimed = 16,      // somebody wants to know when it ran
  kHasQueue = 64,     // its last scalar becomes the address of a completion queue
  kIsOfCluster = 32,  // it is a part of a task of a cluster, and the flags say which: flags_of_part()
};

/// The cores of a cluster: the cube core, and two vector cores behind it.
inline constexpr uint32_t kClusterParts = 3;
inline constexpr uint32_t kCubePart = 0;
/// Clusters that run tasks in one run of a graph are numbered; there is room for this many.
inline constexpr uint32_t kMostClusters = 1u << 19;
/// `members`: a bit for each part that has a kernel.
constexpr uint32_t flags_of_part(uint32_t part, uint32_t members, uint32_t cluster) {
  return kIsOfCluster | part << 8 | members << 10 | cluster << 13;
}
constexpr PTO_ANYWHERE uint32_t part_of(uint32_t flags) { return flags >> 8 & 3; }
constexpr PTO_ANYWHERE uint32_t members_of(uint32_t flags) { return flags >> 10 & 7; }
constexpr PTO_ANYWHERE uint32_t cluster_of(uint32_t flags) { return flags >> 13; }
static_assert(part_of(flags_of_part(2, 5, kMostClusters - 1)) == 2 && members_of(flags_of_part(2, 5, 77)) == 5 &&
              cluster_of(flags_of_part(2, 7, kMostClusters - 1)) == kMostClusters - 1);

/// One way of a pipe of a cluster, and how many slots of it each part has written or read.
struct ClusterRing {
  uint32_t name;  // 2 * pipe + way + 1; 0: none yet
  uint32_t counts[kClusterParts];
};
inline constexpr uint32_t kClusterRings = 16;
/// Of a cluster, in memory of the GPU; zero before each run.
struct ClusterPipes {
  ClusterRing rings[kClusterRings];
  uint32_t ended[kClusterParts];  // not 0: the kernel of that part has returned
  uint32_t reserved;
};

/// What every task needs, read at once.
struct alignas(16) PacketHead {
  uint64_t entry;  // a function of the device; 0: nothing to call
  uint32_t task;   // its number in the graph, from 0
  uint32_t flags;
  uint32_t block_index;
  uint32_t block_count;
  uint32_t needed;   // arrivals at its counter in each run before it may begin
  uint32_t counter;  // the number of that
  uint32_t slot_count;
  uint32_t tensor_count;  // of those that come with the packet: the first slots
  uint32_t told_count;    // counters at which it arrives when it has ended
  uint32_t unit;          // the number of the packet in the graph
};

/// One block of one task, as its core reads it. A core has the packets of its blocks in one piece, in their order, each
/// with the descriptors of its first tensors behind it.
struct Packet {
  PacketHead head;
  const int64_t* slots;  // all of them, if they are more than fit
  const uint32_t* told;  // likewise
  int64_t inline_slots[kInlineSlots];
  uint32_t inline_told[kInlineTold];
  Condition condition;
};
static_assert(sizeof(Packet) == 256 && sizeof(PacketHead) == 48 && offsetof(Packet, inline_slots) == 64);

/// Room for packets in a core's memory; fetched in batches, which are as large as the packets of a graph allow.
inline constexpr uint32_t kPacketRoom = 9 * 1024;
inline constexpr uint32_t kBatches = 3;
constexpr uint32_t packet_bytes(uint32_t tensors) {
  return static_cast<uint32_t>(sizeof(Packet)) + tensors * kTensorBytes;
}
constexpr uint32_t packets_of_batch(uint32_t tensors) { return kPacketRoom / kBatches / packet_bytes(tensors); }
static_assert(packets_of_batch(kInlineTensors) == 4);

/// Maps of matrices for loads: the host makes one for each box, from which cores make theirs.
inline constexpr uint32_t kMapBytes = 128;
inline constexpr uint32_t kBoxWidths = 3;   // 16, 32 or 64 elements of 16 bits
inline constexpr uint32_t kBoxHeights = 5;  // 16 to 256 lines
inline constexpr uint32_t kBoxes = kBoxWidths * kBoxHeights;
/// That a core keeps.
inline constexpr uint32_t kMaps = 8;
constexpr PTO_ANYWHERE uint32_t box_width(uint32_t box) { return 16u << box / kBoxHeights; }
constexpr PTO_ANYWHERE uint32_t box_lines(uint32_t box) { return 16u << box % kBoxHeights; }
constexpr PTO_ANYWHERE uint32_t box_of(uint32_t width, uint32_t lines) {
  uint32_t box = width / 32 * kBoxHeights;
  for (; lines > 16; lines /= 2) ++box;
  return box;
}
static_assert(box_width(box_of(64, 256)) == 64 && box_lines(box_of(64, 256)) == 256 && box_of(16, 16) == 0);
/// The largest boxes that divide `lines`, a multiple of 16.
constexpr PTO_ANYWHERE uint32_t box_lines_of(uint32_t lines) {
  const uint32_t power = lines & (~lines + 1);
  return power < 256 ? power : 256;
}

/// A buffer that kernels may touch.
struct Extent {
  uint64_t begin;
  uint64_t bytes;
};

/// When a block ran, by the clock of the GPU (%globaltimer); 0: it did not come to that.
struct UnitTimes {
  uint64_t began;  // its kernel
  uint64_t returned;
  uint64_t complete;
};
/// Of tasks that come one by one a core keeps the times of its last commands: command number n has place n % this.
inline constexpr uint32_t kTimesOfCore = 4096;

/// Words in memory of the host through which the clocks of host and GPU are compared: tell_time.hpp.
struct ClockWords {
  uint32_t asked;     // questions, from 1 on
  uint32_t answered;  // the last one
  uint64_t gpu_ns;    // the answer
};
inline constexpr uint32_t kClockQuestions = 16;
/// Without another question the GPU stops answering.
inline constexpr uint64_t kClockPatienceNs = 50'000'000;

/// Of the conditions that a kernel may leave: DEFERRED_COMPLETION_CAPACITY of DeferredCompletionEntry; behind them a
/// PTO2CompletionQueue, for kernels of the older form.
inline constexpr uint32_t kQueueAt = 64 * 32;
inline constexpr uint32_t kConditionBytes = kQueueAt + 1600;

/// What ended a run early. Written by the one that changes `stop` from 0 to 1, read by the host when the run is over.
struct Failure {
  uint32_t is_set;
  int32_t code;  // BatonKernelError
  uint32_t task;
  uint32_t core;
  uint32_t line;
  uint32_t reserved;
  uint64_t signal;  // the address of the one that was waited for; 0: none
  char instruction[64];
  char file[256];
  char text[512];
};

/// The parameter of a run.
struct Run {
  const unsigned char* packets;  // each with as many descriptors behind it
  const uint32_t* first_packet;  // of each core, and the end
  uint32_t* arrivals;            // counters, kArrivalStride apart; they only grow
  const Extent* extents;         // by address
  uint32_t extent_count;
  uint32_t packet_bytes;   // of a packet and its descriptors
  uint32_t batch_packets;  // of those that are fetched together
  uint32_t number;         // of runs since the arrivals were 0, this one included
  uint32_t* stop;          // not 0: every core leaves
  uint32_t spans_gpus;     // not 0: signals may be those of another GPU
  uint32_t* lost;          // not 0: a peer has ended, and with it waits for signals; written by the host
  Failure* failure;
  unsigned char* conditions;    // of kernels: kConditionBytes for each core
  unsigned char* cube_buffers;  // of all cores; null if no task needs them
  uint64_t cube_offsets[7];     // by tile type, in the part of a core
  uint64_t buffer_bytes[7];     // by tile type
  uint64_t cube_bytes;          // of a core
  uint32_t window_bytes;        // for tiles that the matrix unit reads, in shared memory; 0: it is not used
  const unsigned char* boxes;   // maps of the host: pto/target/cuda/tensor_map.hpp
  unsigned char* maps;          // of cores
  uint64_t wait_limit_ns;       // of a wait for a signal
  uint64_t run_limit_ns;        // of the run; 0: none
  ClusterPipes* clusters;       // of tasks of clusters
  UnitTimes* times;             // of packets, by their number, or of commands; null: nobody asks
  // Of strict pipes alone.
  kernel::OrderMemory* order;  // of each core
  const Extent* windows;       // the parts of chips of this process
  uint64_t window_count;

  friend bool operator==(const Run&, const Run&) = default;
};

}  // namespace baton::cuda
