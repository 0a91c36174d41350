// BuildAsyncSession, TPUT_ASYNC, TGET_ASYNC: copies that a DMA engine carries out while the kernel goes on.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/comm/async_common/async_types.hpp>
#include <pto/comm/signal.hpp>
#include <pto/instructions/global_access.hpp>

namespace baton::kernel {

/// A DMA engine copies one line of elements without gaps.
PTO_ONCE PTO_SHARED AICORE uint64_t check_line_view(const BatonPlace& place, const char* name,
                                                    const GlobalView& tensor) {
  const Extents& extents = tensor.extents;
  if (kChecks) {
    check_extents(place, extents);
    if (extents.shape[0] != 1 || extents.shape[1] != 1 || extents.shape[2] != 1 || extents.shape[3] != 1 ||
        (extents.shape[4] > 1 && extents.stride[4] != 1)) {
      fail(place, BATON_KERNEL_INVALID_ARGUMENT, name,
           " is not one contiguous line: shapes 0 to 3 must be 1, stride 4 must be 1");
    }
    check_access(place, name, tensor);
  }
  return static_cast<uint64_t>(extents.shape[4] * tensor.element_bytes);
}

template <typename GlobalData>
PTO_INLINE AICORE uint64_t check_line(const BatonPlace& place, const char* name, const GlobalData& tensor) {
  return check_line_view(place, name, view_of(tensor));
}

template <pto::comm::DmaEngine engine, typename Dst, typename Src>
AICORE pto::comm::AsyncEvent submit_copy(const char* name, Dst& dst, Src& src, const pto::comm::AsyncSession& session,
                                         int32_t* signal, int32_t value, pto::comm::NotifyOp op, Where where) {
  static_assert(std::is_same_v<typename Dst::RawDType, typename Src::RawDType>,
                "asynchronous copies: destination and source have different element types");
  const BatonPlace place = place_of(name, where);
  const uint64_t dst_bytes = check_line(place, "dst", dst);
  const uint64_t bytes = check_line(place, "src", src);
  if (kChecks) {
    if (!session.valid) fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the session is not built; call BuildAsyncSession");
    if (session.engine != engine) fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the session is of another engine");
    check_equal(place, "the size of dst in bytes", static_cast<int64_t>(dst_bytes), "that of src",
                static_cast<int64_t>(bytes));
  }
  PTO_INSTRUCTION_BOUNDARY();
  const BatonCopy copy{session.id, data_of(dst), data_of(src), bytes, signal, value, static_cast<uint32_t>(op)};
  BatonCore& core = current_core();
  return {core.table->copy_submit(&core, &copy, &place), engine};
}

/// False for a null workspace, a sync id above 7, or an engine that is not there.
template <pto::comm::DmaEngine engine>
AICORE bool open_session(uint8_t* workspace, pto::comm::AsyncSession& session, uint32_t sync_id,
                         const pto::comm::sdma::SdmaBaseConfig& config, uint32_t channel, Where where) {
  session = pto::comm::AsyncSession{};
  if (workspace == nullptr || sync_id > 7) return false;
  const BatonPlace place = place_of("BuildAsyncSession", where);
  const BatonSession request{
      static_cast<uint32_t>(engine), sync_id, channel, config.queue_num, workspace, config.block_bytes,
      config.comm_block_offset};
  BatonCore& core = current_core();
  const uint64_t id = core.table->session_open(&core, &request, &place);
  if (id == 0) return false;
  session = pto::comm::AsyncSession{engine, true, id};
  return true;
}

}  // namespace baton::kernel

namespace pto::comm {

/// False for a null workspace, a sync id above 7, or an engine that is not there.
template <DmaEngine engine = DmaEngine::SDMA, typename ScratchTile>
AICORE bool BuildAsyncSession(ScratchTile& scratch, uint8_t* workspace, AsyncSession& session, uint32_t syncId = 0,
                              const sdma::SdmaBaseConfig& config = {sdma::kDefaultSdmaBlockBytes, 0, 1},
                              uint32_t channel = UINT32_MAX,
                              baton::kernel::Where where = baton::kernel::Where::current()) {
  static_assert(baton::kernel::lies_in<ScratchTile, TileType::Vec>, "BuildAsyncSession takes a Vec tile");
  if (workspace != nullptr && syncId <= 7) {
    baton::kernel::check_tile(baton::kernel::place_of("BuildAsyncSession", where), "scratch", scratch);
  }
  return baton::kernel::open_session<engine>(workspace, session, syncId, config, channel, where);
}

template <DmaEngine engine = DmaEngine::SDMA, typename Dst, typename Src>
AICORE AsyncEvent TPUT_ASYNC(Dst& dst, Src& src, const AsyncSession& session,
                             baton::kernel::Where where = baton::kernel::Where::current()) {
  return baton::kernel::submit_copy<engine>("TPUT_ASYNC", dst, src, session, nullptr, 0, NotifyOp::Set, where);
}

/// Changes `signal` once the bytes have arrived: unlike a TNOTIFY after it, it cannot overtake them.
template <DmaEngine engine = DmaEngine::SDMA, typename Dst, typename Src, typename SignalData>
AICORE AsyncEvent TPUT_ASYNC(Dst& dst, Src& src, const AsyncSession& session, const SignalData& signal, int32_t value,
                             NotifyOp op, baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::check_signal(baton::kernel::place_of("TPUT_ASYNC", where), signal);
  return baton::kernel::submit_copy<engine>("TPUT_ASYNC", dst, src, session, signal.data(), value, op, where);
}

template <DmaEngine engine = DmaEngine::SDMA, typename Dst, typename Src>
AICORE AsyncEvent TGET_ASYNC(Dst& dst, Src& src, const AsyncSession& session,
                             baton::kernel::Where where = baton::kernel::Where::current()) {
  return baton::kernel::submit_copy<engine>("TGET_ASYNC", dst, src, session, nullptr, 0, NotifyOp::Set, where);
}

}  // namespace pto::comm
