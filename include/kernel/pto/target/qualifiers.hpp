// What kernels write before functions and pointers.
// Without include guard, on purpose: a kernel may give these names another meaning (`[aicore]`) before it includes any
// of our headers, and each of them has to set that right.
#if defined(BATON_FOR_ASCEND)
// The vendor's compiler knows them.
#undef AICORE
#define AICORE __aicore__
#else
#undef __gm__
#undef __aicore__
#undef AICORE

#define __gm__
#if defined(__CUDACC__)
#define __aicore__ __device__
#define AICORE __device__
#else
#define __aicore__
#define AICORE
#endif
#endif
