#include "chip/cores/sim/buffers.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "base/fail.hpp"

namespace baton::chip {

CoreBuffers::CoreBuffers(const BufferBytes& bytes, BufferSet set, BatonBuffer (&buffers)[BATON_CORE_BUFFERS]) {
  // By pto::TileType: Vec, Mat, Left, Right, Acc, Bias, Scaling.
  const bool vector = set == BufferSet::vector;
  const std::array<std::uint64_t, BATON_CORE_BUFFERS> sizes = {
      vector ? bytes.unified : 0, vector ? 0 : bytes.l1,   vector ? 0 : bytes.l0a,    vector ? 0 : bytes.l0b,
      vector ? 0 : bytes.l0c,     vector ? 0 : bytes.bias, vector ? 0 : bytes.scaling};
  // A page that nobody may touch follows each buffer: what runs over it faults instead of reaching the next.
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto padded = [page](std::uint64_t size) { return (size + page - 1) / page * page; };
  for (const std::uint64_t size : sizes) bytes_ += size == 0 ? 0 : padded(size) + page;
  address_ = ::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address_ == MAP_FAILED) fail_system(fmt::format("mapping {} bytes of on-chip buffers", bytes_));
  auto* next = static_cast<unsigned char*>(address_);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    buffers[i] = {nullptr, sizes[i]};
    if (sizes[i] == 0) continue;
    if (::mprotect(next, padded(sizes[i]), PROT_READ | PROT_WRITE) != 0) fail_system("mprotect of an on-chip buffer");
    buffers[i].base = next;
    next += padded(sizes[i]) + page;
  }
}

CoreBuffers::~CoreBuffers() { ::munmap(address_, bytes_); }

}  // namespace baton::chip
