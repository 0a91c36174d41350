// What is said to the compiler beyond the language.
#pragma once

// The iterations of the next loop may run as vectors: within one instruction a destination either is a source, element
// for element, or does not overlap it.
// clang's form of this warns, in the middle of the author's kernel, where it does not help.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define PTO_VECTOR_LOOP _Pragma("GCC ivdep")
#else
#define PTO_VECTOR_LOOP
#endif

// The same for a loop of few vectors, which become straight code.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define PTO_VECTOR_PIECE PTO_VECTOR_LOOP _Pragma("GCC unroll 4")
#else
#define PTO_VECTOR_PIECE
#endif

// The next loop has a small constant length and becomes straight code.
#if defined(__CUDACC__)
#define PTO_UNROLL _Pragma("unroll")
#elif defined(__clang__)
#define PTO_UNROLL _Pragma("clang loop unroll(full)")
#else
#define PTO_UNROLL _Pragma("GCC unroll 8")
#endif

// The next loop remains one, which is short where it is seldom taken.
#if defined(__CUDACC__)
#define PTO_ROLLED _Pragma("unroll 1")
#else
#define PTO_ROLLED
#endif

#define PTO_INLINE inline __attribute__((always_inline))
#define PTO_INLINE_LAMBDA __attribute__((always_inline))
#if defined(__CUDACC__)
#define PTO_TRAP() __trap()
#else
#define PTO_TRAP() __builtin_trap()
#endif
#define PTO_COLD __attribute__((noinline, cold))

// What all instructions of a kernel share: compiled once, called from each of them. A GPU's compiler decides for
// itself.
#if defined(__CUDACC__)
#define PTO_SHARED
#else
#define PTO_SHARED __attribute__((noinline))
#endif

// Before a shared function that has no types: a template, so that a kernel may link it instead of compiling it
// (pto/instructions/bodies.hpp).
#define PTO_ONCE template <typename = void>

// What is worth a call even on a GPU, where registers that a kernel does not need go to its lanes. Takes copies: what a
// call gets the address of lies in memory.
#define PTO_OUTLINED __attribute__((noinline))

// Before a function that hosts call, too.
#if defined(__CUDACC__)
#define PTO_ANYWHERE __host__ __device__
#else
#define PTO_ANYWHERE
#endif

// Tiles of different element types may share bytes. What one instruction stored must be in memory before the next one
// reads it under another type, whatever the compiler thinks of the types.
#define PTO_INSTRUCTION_BOUNDARY() __asm__ __volatile__("" ::: "memory")
