// The sum of all members, for everybody: each shows what it has, waits until all have, and adds up what they show.
// ELEMENT is the type of the elements.
#include <cstdint>
#include <cstring>

#include <pto/comm/pto_comm_inst.hpp>

#include <baton_kernel.hpp>

BATON_KERNEL(allreduce, InOut<ELEMENT> x, InOut<ELEMENT> staged, InOut<int> arrived, std::uint64_t context) {
  namespace comm = pto::comm;
  auto* ctx = reinterpret_cast<CommContext*>(context);
  const int size = static_cast<int>(ctx->rankNum);
  const auto count = static_cast<std::int64_t>(x.size());
  std::memcpy(staged.data(), x.data(), static_cast<std::size_t>(count) * sizeof(ELEMENT));
  for (int peer = 0; peer < size; ++peer) {
    comm::Signal there(comm::CommRemotePtr(ctx, arrived.data(), peer));
    comm::TNOTIFY(there, 1, comm::NotifyOp::AtomicAdd);
  }
  comm::Signal here(arrived.data());
  comm::TWAIT(here, size, comm::WaitCmp::GE);
  // By rank, so that all members get the same bits.
  for (std::int64_t i = 0; i < count; ++i) x.data()[i] = ELEMENT{};
  for (int peer = 0; peer < size; ++peer) {
    const ELEMENT* theirs = comm::CommRemotePtr(ctx, staged.data(), peer);
    for (std::int64_t i = 0; i < count; ++i) x.data()[i] += theirs[i];
  }
}
