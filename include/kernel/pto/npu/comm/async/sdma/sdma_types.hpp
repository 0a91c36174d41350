// The numbers of the system DMA engine.
#include <pto/target/qualifiers.hpp>
#ifndef PTO_NPU_COMM_ASYNC_SDMA_SDMA_TYPES_HPP
#define PTO_NPU_COMM_ASYNC_SDMA_SDMA_TYPES_HPP

#include <stddef.h>
#include <stdint.h>

namespace pto::comm::sdma {

inline constexpr uint32_t UB_ALIGN_SIZE = 256;
inline constexpr uint64_t kDefaultSdmaBlockBytes = 1024 * 1024;

struct SdmaBaseConfig {
  uint64_t block_bytes;
  uint64_t comm_block_offset;
  uint32_t queue_num;
};

}  // namespace pto::comm::sdma

#endif
