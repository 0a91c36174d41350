// Pipes between the cores of a cluster: a cube core and two vector cores, blocks of a GPU that run at the same time.
// Slots lie in global memory; who has written and read them is counted there, too.
#pragma once

#include <pto/target/cuda/core.hpp>

namespace baton::cuda {

/// A task of a cluster begins: `flags` as in PacketHead.
__device__ inline void join_cluster(Control& mine, const Run& run, uint32_t flags) {
  mine.cluster = run.clusters + cluster_of(flags);
  mine.part = part_of(flags);
  mine.members = members_of(flags);
  mine.global.sub_block_id = mine.part == kCubePart ? 0 : static_cast<int32_t>(mine.part - 1);
  mine.left.in_cluster = 1;
}

/// Its kernel has returned: a wait for a slot of this core is in vain.
__device__ inline void leave_cluster(Control& mine) {
  kernel::finish_copies();
  // Pairs with await_part().
  __nv_atomic_store_n(&mine.cluster->ended[mine.part], 1u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  mine.cluster = nullptr;
  mine.global.sub_block_id = 0;
  mine.left.in_cluster = 0;
}

}  // namespace baton::cuda
