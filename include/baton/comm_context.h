/* The struct that kernels receive: where the windows of a domain's ranks are. Its layout is pinned for kernels that
 * were compiled elsewhere. */
#ifndef BATON_COMM_CONTEXT_H
#define BATON_COMM_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

enum { COMM_MAX_RANK_NUM = 64 };

typedef struct CommContext {
  uint64_t workSpace;
  uint64_t workSpaceSize;
  uint32_t rankId;
  uint32_t rankNum;
  uint64_t winSize;
  uint64_t windowsIn[COMM_MAX_RANK_NUM];
  uint64_t windowsOut[COMM_MAX_RANK_NUM];
} CommContext;

/* A domain of more than COMM_MAX_RANK_NUM ranks (rankNum says so) has this larger struct. `more[i]` is the window of
 * rank COMM_MAX_RANK_NUM + i. */
typedef struct CommContextLarge {
  CommContext first;
  uint64_t more[1]; /* rankNum - COMM_MAX_RANK_NUM of them */
} CommContextLarge;

#ifdef __cplusplus
static_assert(sizeof(CommContext) == 1056, "CommContext is 1056 bytes");
static_assert(offsetof(CommContext, workSpaceSize) == 8, "layout");
static_assert(offsetof(CommContext, rankId) == 16, "layout");
static_assert(offsetof(CommContext, rankNum) == 20, "layout");
static_assert(offsetof(CommContext, winSize) == 24, "layout");
static_assert(offsetof(CommContext, windowsIn) == 32, "layout");
static_assert(offsetof(CommContext, windowsOut) == 544, "layout");
#endif

#endif
