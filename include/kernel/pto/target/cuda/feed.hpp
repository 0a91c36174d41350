// The way from the host to the cores of a GPU that stay between runs: commands in rings in memory of the host.
//
// A core looks at the next place of its ring again and again. Each word of a command says which lap of the ring it
// belongs to, so that one look tells both whether the command is there and what it says.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/target/cuda/run.hpp>

namespace baton::cuda {

/// What is read from memory of the host at once. The host writes `lap` last, and releases the rest with it.
struct alignas(16) Word {
  uint32_t part[3];
  uint32_t lap;  // from 1 on; 0: never written
};
inline constexpr uint32_t kPartBytes = sizeof(Word::part);

/// A ring has this many places, a power of two, and each of them this many words: cache lines of the host, enough for a
/// task with four tensors.
inline constexpr uint32_t kPlaces = 32;
inline constexpr uint32_t kPlaceWords = 40;
inline constexpr uint32_t kPlaceBytes = kPlaceWords * kPartBytes;
inline constexpr uint32_t kLineWords = 4;
static_assert(kPlaceWords % kLineWords == 0);
/// Places that a core fetches before it has done what came before them, at most, and the place that it looks at.
inline constexpr uint32_t kLandings = 6;

/// Command number `number` of a core, from 0 on: its place in the ring, and the lap. Numbers wrap round.
AICORE constexpr uint32_t place_of(uint32_t number) { return number % kPlaces; }
AICORE constexpr uint32_t lap_of(uint32_t number) { return number / kPlaces + 1; }

enum class CommandKind : uint16_t {
  graph = 1,  // the part of a graph that a core has
  task = 2,   // one block of a task
};

/// What every command begins with.
struct CommandHead {
  CommandKind kind;
  uint16_t words;    // all of it
  uint32_t version;  // of the description of the run
  uint64_t run;      // its address, in memory of the GPU
};

struct GraphCommand {
  CommandHead head;
  uint32_t number;  // of runs since the arrivals were 0, this one included
  uint32_t reserved;
};

enum TaskFlag : uint32_t {
  kTaskHasPredicate = kHasPredicate,
  kTaskHasCounter = kHasCounter,
  kTaskIsAfter = kIsAfter,
  kTaskIsTimed = kIsTimed,
  kTaskIsCube = 32,
  kTaskHasQueue = kHasQueue,
  kElsewhere = 8,  // what follows the command lies in memory of the host, whose address follows it instead
};

/// Behind it: descriptors of tensors, a condition if it has one, what the core waits for, and scalars.
struct TaskCommand {
  CommandHead head;
  uint64_t entry;  // a function of the device; 0: nothing to call
  uint32_t task;   // its number
  uint32_t flags;
  uint32_t block_index;
  uint32_t block_count;
  uint16_t tensors;
  uint16_t waits;
  uint32_t scalars;
};
static_assert(sizeof(TaskCommand) == 48 && sizeof(GraphCommand) == 24);

/// A task begins when `core` has ended this many commands.
struct Awaited {
  uint32_t core;
  uint32_t ended;
};

/// The part of a descriptor that says something: as many whole words as that takes.
inline constexpr uint32_t kTensorPart = 96;
inline constexpr uint32_t kTensorWords = kTensorPart / kPartBytes;

/// Whether a place holds a task with this many tensors whose other parts take this many bytes.
AICORE constexpr uint32_t task_bytes(uint32_t tensors, uint32_t others) {
  return static_cast<uint32_t>(sizeof(TaskCommand)) + tensors * kTensorPart + others;
}
AICORE constexpr uint32_t words_of(uint32_t bytes) { return (bytes + kPartBytes - 1) / kPartBytes; }

/// In memory of the host, in cache lines of their own.
struct HostWords {
  struct alignas(64) Bell {
    uint64_t commands;  // that the host has written, to all rings
    uint32_t quit;      // cores of launches up to this one leave
    uint32_t reserved;
  } bell;
  struct alignas(64) Left {
    uint32_t launch;  // the newest one whose cores have left, or are about to; written by the GPU
  } left;
  struct alignas(64) Lost {
    uint32_t peers;  // not 0: a peer has ended
  } lost;
};

/// Of each core, in memory of the GPU.
struct alignas(32) CoreWords {
  uint32_t ended;  // commands, in all launches
  uint32_t reserved;
  uint64_t paused_at;  // the gate of the newest pause it took part in
};

/// The gate, a word in memory of the GPU: the launch it is about, and its state.
inline constexpr uint32_t kGateOpen = 0;
inline constexpr uint32_t kGateClosed = 1;  // all leave
/// Pauses of a launch count from 1 on.
AICORE constexpr uint32_t gate_of_pause(uint32_t pause) { return 2 * pause; }
AICORE constexpr uint64_t gate_word(uint32_t launch, uint32_t state) { return uint64_t{state} << 32 | launch; }
AICORE constexpr uint32_t launch_of_gate(uint64_t gate) { return static_cast<uint32_t>(gate); }
AICORE constexpr uint32_t state_of_gate(uint64_t gate) { return static_cast<uint32_t>(gate >> 32); }

/// The parameter of cores that stay.
struct Stay {
  Run run;            // until a command brings another one; all have its stop, failure and conditions
  const Word* rings;  // of all cores
  HostWords* host;
  uint32_t* ended;  // by core, in memory of the host: as in CoreWords
  CoreWords* cores;
  uint64_t* gate;
  uint64_t idle_ns;  // without commands, before they leave
  uint32_t launch;   // from 1 on
};

}  // namespace baton::cuda
