// A raw kernel: y = x * factor, float.
#include <cstring>

#include "tensor.h"

extern "C" void kernel_entry(int64_t* args) {
  const auto* x = reinterpret_cast<const Tensor*>(args[0]);
  const auto* y = reinterpret_cast<const Tensor*>(args[1]);
  float factor = 0;
  std::memcpy(&factor, &args[2], sizeof factor);
  const auto* from = reinterpret_cast<const float*>(x->buffer.addr) + x->start_offset;
  auto* to = reinterpret_cast<float*>(y->buffer.addr) + y->start_offset;
  for (unsigned i = 0; i < y->shapes[0]; ++i) to[i] = from[i] * factor;
}
