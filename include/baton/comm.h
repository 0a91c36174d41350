/* The C interface of the communication layer: domains, windows, barrier.
 *
 * Every function returns 0, or a number of the error table (docs/reference/errors.md); comm_last_error() then holds the
 * whole message of this thread's last failure. No exception crosses this boundary. */
#ifndef BATON_COMM_H
#define BATON_COMM_H

#include <stddef.h>
#include <stdint.h>

#include <baton/comm_context.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BATON_C_API __attribute__((visibility("default")))

typedef struct CommHandle_* CommHandle;

/* Joins the job `rendezvous` as `rank` of `nranks`; blocks until all have joined, or BATON_JOIN_TIMEOUT.
 * `rendezvous` is a name, optionally with a backend before it: "job7", "shm:job7", "inproc:job7". "ucx:job7", and the
 * value of BATON_JOB, mean the job that the launcher started, with its numbers, also if it is on several hosts.
 * `stream` is ignored by backends without streams. NULL on failure. */
BATON_C_API CommHandle comm_init(int rank, int nranks, void* stream, const char* rendezvous);

/* Gives every rank a zeroed window of `bytes`. Collective over all ranks, once per handle.
 * `ctx_out` receives the address of this rank's CommContext, valid until comm_destroy(). */
BATON_C_API int comm_alloc_windows(CommHandle handle, size_t bytes, uint64_t* ctx_out);
BATON_C_API int comm_get_local_window_base(CommHandle handle, uint64_t* base_out);
BATON_C_API int comm_get_window_size(CommHandle handle, size_t* bytes_out);

/* A context for the `n` ranks `rank_ids` over [offset, offset + bytes) of the existing windows. Local: no rank waits.
 * `domain_rank` is the position of the caller in `rank_ids`. Valid until comm_destroy(). */
BATON_C_API int comm_derive_context(CommHandle handle, const uint32_t* rank_ids, size_t n, uint32_t domain_rank,
                                    size_t offset, size_t bytes, uint64_t* ctx_out);

/* Fresh zeroed windows for a subset; collective over the subset only. `id` names the allocation: equal at all members,
 * and not in use by another live allocation of the same subset. `base_out` receives the caller's own window. */
BATON_C_API int comm_alloc_domain_windows(CommHandle handle, uint64_t id, const uint32_t* rank_ids, size_t n,
                                          uint32_t domain_rank, size_t bytes, uint64_t* ctx_out, uint64_t* base_out);
/* Releases this rank's view of the windows of `ctx`. Local; a peer may still use its own view. */
BATON_C_API int comm_release_domain_windows(CommHandle handle, uint64_t ctx);

/* Bytes and signals of the window that rank `rank` of the context `ctx` has, `offset` bytes from its beginning on. They
 * reach ranks of other hosts, whose windows have no memory behind their addresses. A put is complete when it returns,
 * and visible to `rank` with a notify that follows it. */
BATON_C_API int comm_put(CommHandle handle, uint64_t ctx, uint32_t rank, size_t offset, const void* source,
                         size_t bytes);
BATON_C_API int comm_get(CommHandle handle, uint64_t ctx, uint32_t rank, size_t offset, void* target, size_t bytes);
/* Adds `value` to a signal, a 32-bit counter at a multiple of 4, and wakes those that wait for it. */
BATON_C_API int comm_notify(CommHandle handle, uint64_t ctx, uint32_t rank, size_t offset, int32_t value);
/* Until the signal has at least `value`, or BATON_WAIT_TIMEOUT. `rank` is on the host of the caller. */
BATON_C_API int comm_wait(CommHandle handle, uint64_t ctx, uint32_t rank, size_t offset, int32_t value);

/* Waits until every rank of the job has called it as often as this one. */
BATON_C_API int comm_barrier(CommHandle handle);

/* Leaves the job and releases everything the handle gave out. */
BATON_C_API int comm_destroy(CommHandle handle);

/* The whole message of the last failure on this thread; empty if there was none. Valid until the next call here. */
BATON_C_API const char* comm_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
