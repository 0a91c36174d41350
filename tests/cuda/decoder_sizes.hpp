// What kernels and host know of a decoder layer.
#pragma once

namespace decoder {

inline constexpr int kChunk = 1024;    // columns of weights that are multiplied at a time
inline constexpr int kHead = 128;      // elements of a head
inline constexpr int kContext = 1024;  // tokens before this one

}  // namespace decoder
