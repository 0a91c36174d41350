// A kernel that a GPU cannot run: it calls a function of the host.
#include <baton_kernel.hpp>

int on_the_host() { return 1; }

BATON_KERNEL(calls_the_host, Out<int32_t> y) { *y.data() = on_the_host(); }
