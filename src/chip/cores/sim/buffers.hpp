// The on-chip buffers of a core: address space at first, memory when touched.
#pragma once

#include <cstddef>

#include <pto/target/core.hpp>

#include "chip/cores/profile.hpp"

namespace baton::chip {

enum class BufferSet : unsigned char { cube, vector };

class CoreBuffers {
 public:
  CoreBuffers(const BufferBytes& bytes, BufferSet set, BatonBuffer (&buffers)[BATON_CORE_BUFFERS]);
  CoreBuffers(const CoreBuffers&) = delete;
  CoreBuffers& operator=(const CoreBuffers&) = delete;
  ~CoreBuffers();

 private:
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace baton::chip
