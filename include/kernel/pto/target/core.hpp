// The seam between tile instructions and whatever executes a core.
//
// Instructions compute on plain memory. All else (where the on-chip buffers are, what happens on an error, how a wait
// blocks, who moves the bytes of an asynchronous copy, whether the order of pipes is judged) they ask of the BatonCore
// that runs the calling kernel. A runtime provides the cores and `baton_core_current`.
//
// The layout is pinned: a kernel compiled today runs on a later runtime of the same version.
#ifndef BATON_KERNEL_CORE_HPP
#define BATON_KERNEL_CORE_HPP

#include <stddef.h>
#include <stdint.h>

extern "C" {

enum : uint32_t { BATON_CORE_VERSION = 2, BATON_CORE_BUFFERS = 7 };

// Numbers of the error table of Baton.
enum BatonKernelError : int32_t {
  BATON_KERNEL_INVALID_ARGUMENT = 1,  // tiles, tensors or values that do not fit together
  BATON_KERNEL_OUT_OF_RANGE = 2,      // outside an on-chip buffer, a tensor or a window
  BATON_KERNEL_MISALIGNED = 4,
  BATON_KERNEL_MISMATCH = 5,  // ranks that work together call different things
  BATON_KERNEL_UNSUPPORTED = 8,
  BATON_KERNEL_TOO_MANY_CONDITIONS = 53,
  BATON_KERNEL_PEER_DIED = 30,
  BATON_KERNEL_WAIT_TIMEOUT = 31,
  BATON_KERNEL_PIPE_ORDER = 50,  // a flag misused, or work of two pipes without order between them
  BATON_KERNEL_LEFT_OPEN = 51,   // a kernel returned with a flag or an asynchronous copy nobody waits for
};

// BATON_ATOMIC comes with BATON_WRITES: element by element, so that others may do the same at the same time.
// Of elements on another host it comes with their kind, a baton::Element, in the bits from BATON_ELEMENT_SHIFT on.
enum BatonAccess : uint32_t { BATON_READS = 1, BATON_WRITES = 2, BATON_ATOMIC = 4 };
enum : uint32_t { BATON_ELEMENT_SHIFT = 8 };

// What becomes of an element when another one comes to it. Element by element, but for BATON_REPLACE.
enum BatonChange : uint32_t { BATON_REPLACE = 0, BATON_ADD = 1, BATON_MAX = 2, BATON_MIN = 3 };

// Bits of BatonCore::watches: what a core wants to be told, and that some windows have parts on other hosts.
enum BatonWatch : uint32_t { BATON_WATCH_ISSUE = 1, BATON_WATCH_FAR = 2 };

// Memory on another host is known, but no pointer reaches it.
enum BatonAddress : int32_t { BATON_ADDRESS_UNKNOWN = 0, BATON_ADDRESS_KNOWN = 1, BATON_ADDRESS_FAR = 2 };

struct BatonCore;

// Where in the kernel's source an instruction stands. `file` is "" and `line` 0 where that is not known.
struct BatonPlace {
  const char* instruction;
  const char* file;
  uint32_t line;
  uint32_t reserved;
};

struct BatonFailure {
  int32_t code;
  uint32_t reserved;
  const BatonPlace* place;
  const char* text;
};

// One on-chip buffer, aligned to 64 bytes at least; capacity 0 if this core has none of that type.
struct BatonBuffer {
  unsigned char* base;
  uint64_t capacity;
};

// Tile bytes that an instruction touches: `rows` runs of `row_bytes`, `pitch_bytes` apart.
struct BatonTileRange {
  uint32_t tile_type;
  uint32_t access;
  const void* address;
  uint64_t rows;
  uint64_t row_bytes;
  uint64_t pitch_bytes;
};

// Elements of global memory that an instruction touches; strides count bytes, those of extent 1 are zero.
struct BatonGlobalRange {
  const void* address;
  uint32_t access;
  uint32_t element_bytes;
  int64_t shape[5];
  int64_t stride_bytes[5];
};

// One tile instruction. `pipes` has bit p for pipe p: one that runs on several pipes is ordered in all of them.
struct BatonIssue {
  const BatonPlace* place;
  uint32_t pipes;
  uint32_t tile_count;
  const BatonTileRange* tiles;
  const BatonGlobalRange* globals;
  uint32_t global_count;
  uint32_t reserved;
};

// An order of asynchronous copies on one DMA queue.
struct BatonSession {
  uint32_t engine;
  uint32_t sync_id;
  uint32_t channel;
  uint32_t queue_count;
  void* workspace;
  uint64_t block_bytes;
  uint64_t block_offset;
};

// An asynchronous copy. With `signal`, the engine changes it after the bytes have arrived.
struct BatonCopy {
  uint64_t session;
  void* destination;
  const void* source;
  uint64_t bytes;
  int32_t* signal;
  int32_t signal_value;
  uint32_t signal_op;
};

// One slot of a pipe between the cube core of a cluster and its vector cores, from the side of one core. Both sides
// count slots from 0 on, each way apart. Without an element nobody compares what was pushed with what is popped.
struct BatonPipeSlot {
  uint32_t pipe;
  uint32_t way;  // 0: to the vector cores, 1: to the cube core
  uint32_t slots;
  uint32_t slot_bytes;
  uint64_t index;
  const char* element;
  uint32_t row_elements;
  uint32_t reserved;
};

// Pieces for a tensor on another host, in order: at `pieces` their distances in bytes from `address`, an int64_t each,
// then the pieces. `change` is a BatonChange, with the kind of the elements in the bits from BATON_ELEMENT_SHIFT on.
struct BatonScatter {
  const void* address;
  const void* pieces;
  uint64_t count;
  uint32_t piece_bytes;
  uint32_t change;
};

// A matrix for a file: elements one row after the other. `type` is NumPy's word for them, such as "<f4".
struct BatonDump {
  const char* path;
  const char* type;
  const void* elements;
  uint64_t rows;
  uint64_t cols;
  uint32_t element_bytes;
  uint32_t reserved;
};

enum BatonStream : uint32_t { BATON_STANDARD_OUTPUT = 1, BATON_STANDARD_ERROR = 2 };

// How a kernel ends that does not return: "x > 0", "exit(3)".
enum BatonLeaving : uint32_t { BATON_LEAVING_BY_ASSERTION = 1, BATON_LEAVING_BY_EXIT = 2 };

// What a core can do. Every function may fail like `fail`; none returns as if it had succeeded.
#if defined(__CUDACC__)
// The same functions; a GPU has one kind of core, so they are called without a table (pto/target/cuda/core.hpp).
struct BatonCoreTable {
  __device__ static void fail(BatonCore*, const BatonFailure*);
  __device__ static int32_t address_known(BatonCore*, const void* begin, uint64_t bytes, char* nearest,
                                          uint64_t nearest_bytes);
  __device__ static void issue(BatonCore*, const BatonIssue*);
  __device__ static void set_flag(BatonCore*, uint32_t producer, uint32_t consumer, int32_t id, const BatonPlace*);
  __device__ static void wait_flag(BatonCore*, uint32_t producer, uint32_t consumer, int32_t id, const BatonPlace*);
  __device__ static void pipe_barrier(BatonCore*, uint32_t pipe, const BatonPlace*);
  __device__ static void cache_line(BatonCore*, const volatile void* address, int32_t extent, int32_t destination);
  __device__ static void memory_barrier(BatonCore*, int32_t kind);
  __device__ static void yield(BatonCore*);
  __device__ static void notify(BatonCore*, int32_t* signal, int32_t value, uint32_t op, const BatonPlace*);
  __device__ static int32_t test(BatonCore*, const int32_t* signal, int32_t value, uint32_t comparison,
                                 const BatonPlace*);
  __device__ static void wait(BatonCore*, const int32_t* signal, int32_t value, uint32_t comparison, const BatonPlace*);
  __device__ static uint64_t session_open(BatonCore*, const BatonSession*, const BatonPlace*);
  __device__ static uint64_t copy_submit(BatonCore*, const BatonCopy*, const BatonPlace*);
  __device__ static int32_t copy_test(BatonCore*, uint64_t session, uint64_t record, const BatonPlace*);
  __device__ static void copy_wait(BatonCore*, uint64_t session, uint64_t record, const BatonPlace*);
  __device__ static void copy_defer(BatonCore*, uint64_t record);
  __device__ static int32_t pipe_acquire(BatonCore*, const BatonPipeSlot*, const BatonPlace*);
  __device__ static void pipe_release(BatonCore*, const BatonPipeSlot*, const BatonPlace*);
  __device__ static const BatonBuffer* pipe_peer(BatonCore*, uint32_t vector, uint32_t tile_type, const BatonPlace*);
  __device__ static void print(BatonCore*, uint32_t stream, const char* text, uint64_t bytes);
  __device__ static void dump(BatonCore*, const BatonDump*, const BatonPlace*);
};
#else
struct BatonCoreTable {
  // Ends the kernel; does not return.
  void (*fail)(BatonCore*, const BatonFailure*);

  // Whether [begin, begin + bytes) lies inside one tensor or window that this kernel may use: a BatonAddress. If not,
  // and `nearest_bytes` is not 0, describes in `nearest` what lies closest.
  int32_t (*address_known)(BatonCore*, const void* begin, uint64_t bytes, char* nearest, uint64_t nearest_bytes);

  // Called before the instruction computes, if BATON_WATCH_ISSUE is set.
  void (*issue)(BatonCore*, const BatonIssue*);
  void (*set_flag)(BatonCore*, uint32_t producer, uint32_t consumer, int32_t id, const BatonPlace*);
  void (*wait_flag)(BatonCore*, uint32_t producer, uint32_t consumer, int32_t id, const BatonPlace*);
  void (*pipe_barrier)(BatonCore*, uint32_t pipe, const BatonPlace*);

  // dcci and dsb. A kernel that polls memory calls them in its loop: a core may run others meanwhile.
  void (*cache_line)(BatonCore*, const volatile void* address, int32_t extent, int32_t destination);
  void (*memory_barrier)(BatonCore*, int32_t kind);
  void (*yield)(BatonCore*);

  // Signals: work of the scalar pipe. notify releases, wait acquires, test acquires if it holds. Operations and
  // comparisons are numbered as pto::comm::NotifyOp and pto::comm::WaitCmp. wait returns only when the comparison
  // holds.
  void (*notify)(BatonCore*, int32_t* signal, int32_t value, uint32_t op, const BatonPlace*);
  int32_t (*test)(BatonCore*, const int32_t* signal, int32_t value, uint32_t comparison, const BatonPlace*);
  void (*wait)(BatonCore*, const int32_t* signal, int32_t value, uint32_t comparison, const BatonPlace*);

  // Asynchronous copies. session_open gives 0 if the engine is not there. copy_submit gives the address of a 64-bit
  // record that is 0 until the copy is complete and 1 from then on; a copy completes after all earlier ones of its
  // session, so that a wait for it waits for these too. copy_defer says that a completion condition waits for
  // the record, so that the kernel may return before; other addresses it ignores.
  uint64_t (*session_open)(BatonCore*, const BatonSession*, const BatonPlace*);
  uint64_t (*copy_submit)(BatonCore*, const BatonCopy*, const BatonPlace*);
  int32_t (*copy_test)(BatonCore*, uint64_t session, uint64_t record, const BatonPlace*);
  void (*copy_wait)(BatonCore*, uint64_t session, uint64_t record, const BatonPlace*);
  void (*copy_defer)(BatonCore*, uint64_t record);

  // Pipes. pipe_acquire waits until this core may write the slot, if it pushes, or read it, and gives the number of
  // this vector core (of the cube core 0); pipe_release says that it has done so. pipe_peer is the buffer of a type of
  // a vector core of the cluster, null if that takes no part in the task.
  int32_t (*pipe_acquire)(BatonCore*, const BatonPipeSlot*, const BatonPlace*);
  void (*pipe_release)(BatonCore*, const BatonPipeSlot*, const BatonPlace*);
  const BatonBuffer* (*pipe_peer)(BatonCore*, uint32_t vector, uint32_t tile_type, const BatonPlace*);

  // What a kernel tells people. print shows whole lines, with where they come from in front; what is left without an
  // end is shown when the kernel has ended. dump writes a file of NumPy's; {rank}, {core}, {kernel} and {block} in its
  // path stand for where the kernel runs.
  void (*print)(BatonCore*, uint32_t stream, const char* text, uint64_t bytes);
  void (*dump)(BatonCore*, const BatonDump*, const BatonPlace*);

  // Elements on another host. far_begin gives an address at which an instruction finds those that it reads, or leaves
  // those that it writes, at the distances of the range; far_end sends what was written at that address. What one of
  // them reads, or writes, stays until the next one of its kind. far_scatter sends pieces, which lie anywhere.
  void* (*far_begin)(BatonCore*, const BatonGlobalRange*, const BatonPlace*);
  void (*far_end)(BatonCore*, const BatonGlobalRange*, const void* near, const BatonPlace*);
  void (*far_scatter)(BatonCore*, const BatonScatter*, const BatonPlace*);

  // The kernel calls abort() next, and that means what `how` says, at the call that returns to `from`.
  void (*leaving)(BatonCore*, uint32_t by, const char* how, const void* from);
};
#endif

// What every core begins with; a runtime puts its own data behind it.
struct BatonCore {
  uint32_t version;  // BATON_CORE_VERSION
  uint32_t watches;
  const BatonCoreTable* table;
  BatonBuffer buffers[BATON_CORE_BUFFERS];  // by pto::TileType
};

// The core that runs the calling kernel; never null. A function, not a variable: a kernel that waits may continue after
// other cores ran on its thread.
#if defined(__CUDACC__)
__device__
#endif
    BatonCore*
    baton_core_current();  // NOLINT(readability-redundant-declaration): a runtime declares it, too
}

static_assert(sizeof(BatonPlace) == 24 && sizeof(BatonFailure) == 24 && sizeof(BatonBuffer) == 16);
static_assert(sizeof(BatonTileRange) == 40 && sizeof(BatonGlobalRange) == 96 && sizeof(BatonIssue) == 40);
static_assert(sizeof(BatonSession) == 40 && sizeof(BatonCopy) == 48 && sizeof(BatonPipeSlot) == 40);
static_assert(sizeof(BatonDump) == 48 && sizeof(BatonScatter) == 32);
static_assert(offsetof(BatonCore, table) == 8 && offsetof(BatonCore, buffers) == 16 && sizeof(BatonCore) == 128);
#if !defined(__CUDACC__)
static_assert(sizeof(BatonCoreTable) == 26 * sizeof(void*));
#endif

#endif
