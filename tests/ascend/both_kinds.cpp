// Typed kernels for both kinds of cores in one source.
#include <baton_kernel.hpp>

namespace {

#if defined(__DAV_CUBE__)
constexpr int32_t kCompiledFor = 2;
#else
constexpr int32_t kCompiledFor = 1;
#endif

}  // namespace

/// Which kind of code runs; on the host both are of one kind.
BATON_KERNEL(tell_vector, Out<int32_t> out) { out.data()[0] = 10 + kCompiledFor; }
BATON_CUBE_KERNEL(tell_cube, Out<int32_t> out) { out.data()[0] = 20 + kCompiledFor; }
