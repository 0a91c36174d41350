// The struct that kernels receive, as C and as C++ see it.
#include <assert.h>
#include <stddef.h>

#include <baton/comm.h>

static_assert(sizeof(CommContext) == 1056, "CommContext");
static_assert(offsetof(CommContext, workSpace) == 0, "workSpace");
static_assert(offsetof(CommContext, workSpaceSize) == 8, "workSpaceSize");
static_assert(offsetof(CommContext, rankId) == 16, "rankId");
static_assert(offsetof(CommContext, rankNum) == 20, "rankNum");
static_assert(offsetof(CommContext, winSize) == 24, "winSize");
static_assert(offsetof(CommContext, windowsIn) == 32, "windowsIn");
static_assert(offsetof(CommContext, windowsOut) == 544, "windowsOut");
static_assert(sizeof(((CommContext*)0)->windowsIn) == 64 * 8, "64 ranks");

static_assert(offsetof(CommContextLarge, first) == 0, "first");
static_assert(offsetof(CommContextLarge, more) == 1056, "more");
