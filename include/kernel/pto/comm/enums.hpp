// The choices of communication instructions.
#pragma once

#include <stdint.h>

namespace pto::comm {

/// How a notify changes a signal.
enum class NotifyOp : uint8_t { AtomicAdd, Set };

/// What a wait or test compares: `element CMP value`, signed.
enum class WaitCmp : uint8_t { EQ, NE, GT, GE, LT, LE };

/// Who moves the bytes of an asynchronous copy.
enum class DmaEngine : uint8_t { SDMA, URMA, RDMA };

}  // namespace pto::comm
