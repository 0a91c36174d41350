#include "node/window_layout.hpp"

#include <algorithm>
#include <limits>

#include "base/fail.hpp"

namespace baton::node {
namespace {

/// Of buffers in a window: a cache line, which is also what tiles are aligned to.
constexpr std::uint64_t kBufferAlign = 64;

/// Elements and bytes of one buffer: either says the other, or the bytes leave room behind the elements.
WindowLayout::Placed measure(std::string_view domain, const CommBufferSpec& spec) {
  WindowLayout::Placed placed{.offset = 0, .bytes = 0, .count = spec.count};
  if (spec.count == 0) placed.count = spec.bytes / size_of(spec.dtype);
  const bool countable = !__builtin_mul_overflow(placed.count, size_of(spec.dtype), &placed.bytes) &&
                         placed.bytes <= std::numeric_limits<std::uint64_t>::max() / 2;
  if (placed.count == 0 || !countable) {
    fail(Code::invalid_argument, "domain \"{}\": buffer \"{}\" cannot have {} elements of {} in {} bytes", domain,
         spec.name, spec.count, name_of(spec.dtype), spec.bytes);
  }
  if (spec.bytes != 0 && spec.bytes < placed.bytes) {
    fail(Code::invalid_argument, "domain \"{}\": {} elements of {} take {} bytes, and buffer \"{}\" has {}", domain,
         placed.count, name_of(spec.dtype), placed.bytes, spec.name, spec.bytes);
  }
  placed.bytes = std::max<std::uint64_t>(placed.bytes, spec.bytes);
  return placed;
}

}  // namespace

WindowLayout lay_out(std::string_view domain, std::span<const CommBufferSpec> buffers, std::size_t window_bytes) {
  WindowLayout layout;
  std::uint64_t end = 0;
  for (const CommBufferSpec& spec : buffers) {
    const auto same_name = [&](const CommBufferSpec& other) { return other.name == spec.name; };
    if (std::count_if(buffers.begin(), buffers.end(), same_name) > 1) {
      fail(Code::invalid_argument, "domain \"{}\": two buffers have the name \"{}\"", domain, spec.name);
    }
    WindowLayout::Placed placed = measure(domain, spec);
    placed.offset = end;
    if (__builtin_add_overflow(end, (placed.bytes + kBufferAlign - 1) / kBufferAlign * kBufferAlign, &end)) {
      fail(Code::out_of_memory, "domain \"{}\": its {} buffers need more than 2^64 bytes", domain, buffers.size());
    }
    layout.buffers.push_back(placed);
  }
  layout.bytes = window_bytes == 0 ? end : window_bytes;
  if (layout.bytes < end) {
    fail(Code::out_of_memory, "domain \"{}\": its {} buffers need {} bytes, the window has {}", domain, buffers.size(),
         end, layout.bytes);
  }
  if (layout.bytes == 0) fail(Code::invalid_argument, "domain \"{}\" has windows of 0 bytes and no buffers", domain);
  return layout;
}

}  // namespace baton::node
