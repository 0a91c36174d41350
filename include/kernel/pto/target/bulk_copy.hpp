// Copies between memory and Vec that go on while the core reads its kernel: flags of PIPE_MTE2 and PIPE_MTE3 say when
// they are done. A host has none; an instruction that starts one there copies at once.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <stdint.h>

namespace baton::kernel {

/// Lines of equal length. Pitches count bytes.
struct LineCopy {
  unsigned char* tile;
  int64_t tile_pitch;
  unsigned char* memory;
  int64_t memory_pitch;
  int64_t lines;
  int64_t bytes;
};

#if defined(__CUDACC__)
inline constexpr bool kBulkCopies = true;
/// Defined in pto/target/cuda/bulk_copy.hpp. False: this one must be made by lanes.
__device__ bool start_load(const LineCopy& copy);
__device__ bool start_store(const LineCopy& copy);
/// One line.
__device__ bool start_line_load(unsigned char* tile, unsigned char* memory, int64_t bytes);
__device__ bool start_line_store(unsigned char* memory, unsigned char* tile, int64_t bytes);
/// Copies from memory to memory through two tiles of `tile_bytes` in turn: while one is stored, the other is loaded.
/// What both have is lost. False: it is not worth it.
__device__ bool copy_through(unsigned char* to, const unsigned char* from, unsigned char* ping, unsigned char* pong,
                             int64_t tile_bytes, int64_t bytes);
/// Waits until what was started is done: for an instruction that touches memory in another way.
__device__ void finish_copies();
#else
inline constexpr bool kBulkCopies = false;
inline bool start_load(const LineCopy& /*copy*/) { return false; }
inline bool start_store(const LineCopy& /*copy*/) { return false; }
inline bool start_line_load(unsigned char* /*tile*/, unsigned char* /*memory*/, int64_t /*bytes*/) { return false; }
inline bool start_line_store(unsigned char* /*memory*/, unsigned char* /*tile*/, int64_t /*bytes*/) { return false; }
inline bool copy_through(unsigned char* /*to*/, const unsigned char* /*from*/, unsigned char* /*ping*/,
                         unsigned char* /*pong*/, int64_t /*tile_bytes*/, int64_t /*bytes*/) {
  return false;
}
inline void finish_copies() {}
#endif

}  // namespace baton::kernel
