#include "access_kernels.hpp"

#include <pto_async_kernel_api.h>
#include <baton_kernel.hpp>
#include <pto/comm/pto_comm_inst.hpp>

namespace baton::test {
namespace {

using Numbers = pto::Tile<pto::TileType::Vec, float, 1, kNumbers>;
using Line = pto::GlobalTensor<float, pto::Shape<1, 1, 1, 1, kNumbers>, pto::Stride<1, 1, 1, kNumbers, 1>>;

Line line_at(uint64_t address) { return Line(reinterpret_cast<float*>(address)); }

pto::comm::AsyncSession session_of(int64_t* args) {
  pto::Tile<pto::TileType::Vec, uint8_t, 1, pto::comm::sdma::UB_ALIGN_SIZE> scratch;
  TASSIGN(scratch, 4096);
  pto::comm::AsyncSession session;
  pto::comm::BuildAsyncSession(scratch, get_dma_workspace(args, 0), session);
  return session;
}

void touch(int64_t* args, Instruction instruction, uint64_t address, uint64_t other) {
  Numbers tile;
  TASSIGN(tile, 0);
  Line there = line_at(address);
  Line elsewhere = line_at(other);
  const pto::comm::AsyncSession session = session_of(args);
  switch (instruction) {
    case Instruction::load: TLOAD(tile, there); break;
    case Instruction::store: TSTORE(there, tile); break;
    case Instruction::add: TSTORE<Numbers, Line, pto::AtomicType::AtomicAdd>(there, tile); break;
    case Instruction::put_there: pto::comm::TPUT(there, elsewhere, tile); break;
    case Instruction::put_from_there: pto::comm::TPUT(elsewhere, there, tile); break;
    case Instruction::put_adding: pto::comm::TPUT<pto::AtomicType::AtomicAdd>(there, elsewhere, tile); break;
    case Instruction::get_there: pto::comm::TGET(there, elsewhere, tile); break;
    case Instruction::get_from_there: pto::comm::TGET(elsewhere, there, tile); break;
    case Instruction::put_async_there: pto::comm::TPUT_ASYNC(there, elsewhere, session).Wait(session); break;
    case Instruction::put_async_from_there: pto::comm::TPUT_ASYNC(elsewhere, there, session).Wait(session); break;
    case Instruction::get_async_there: pto::comm::TGET_ASYNC(there, elsewhere, session).Wait(session); break;
    case Instruction::get_async_from_there: pto::comm::TGET_ASYNC(elsewhere, there, session).Wait(session); break;
  }
  pipe_barrier(PIPE_ALL);
}

template <class Move>
void move_rows(uint64_t address, int32_t rows, int32_t columns, Move move) {
  using Rows = pto::Tile<pto::TileType::Vec, float, 8, kNumbers, pto::BLayout::RowMajor, pto::DYNAMIC, pto::DYNAMIC>;
  using Matrix =
      pto::GlobalTensor<float, pto::Shape<1, 1, 1, pto::DYNAMIC, pto::DYNAMIC>, pto::Stride<1, 1, 1, kNumbers, 1>>;
  Rows tile(static_cast<unsigned>(rows), static_cast<unsigned>(columns));
  TASSIGN(tile, 0);
  Matrix matrix(reinterpret_cast<float*>(address), pto::Shape<1, 1, 1, pto::DYNAMIC, pto::DYNAMIC>(rows, columns));
  move(tile, matrix);
}

}  // namespace

BATON_KERNEL(touch_there, std::int32_t instruction, std::uint64_t there, std::uint64_t elsewhere, std::uint64_t await,
             std::uint64_t notify) {
  if (await != 0) {
    pto::comm::Signal signal(reinterpret_cast<int32_t*>(await));
    pto::comm::TWAIT(signal, 1, pto::comm::WaitCmp::GE);
  }
  touch(args, static_cast<Instruction>(instruction), there, elsewhere);
  if (notify != 0) {
    pto::comm::Signal signal(reinterpret_cast<int32_t*>(notify));
    pto::comm::TNOTIFY(signal, 1, pto::comm::NotifyOp::AtomicAdd);
  }
}

BATON_KERNEL(touch_and_name, InOut<std::int32_t> named, std::int32_t instruction, std::uint64_t there,
             std::uint64_t elsewhere) {
  (void)named;
  touch(args, static_cast<Instruction>(instruction), there, elsewhere);
}

BATON_KERNEL(put_and_return, std::uint64_t there, std::uint64_t elsewhere, std::uint64_t notify) {
  Line to = line_at(there);
  Line from = line_at(elsewhere);
  const pto::comm::AsyncSession session = session_of(args);
  pto::comm::Signal signal(reinterpret_cast<int32_t*>(notify));
  const auto event = pto::comm::TPUT_ASYNC(to, from, session, signal, 1, pto::comm::NotifyOp::AtomicAdd);
  AsyncCtx context = get_async_ctx(args);
  register_completion_condition(
      context, {event.handle, 1, COMPLETION_ENGINE_SDMA, COMPLETION_TYPE_SDMA_EVENT_RECORD, session.id});
}

BATON_KERNEL(touch_tensor, InOut<float> there, std::int32_t instruction) {
  touch(args, static_cast<Instruction>(instruction), reinterpret_cast<uint64_t>(there.data()), 0);
}

BATON_KERNEL(touch_tensor_of, InOut<float> there, std::int32_t instruction, InOut<float> /*all*/) {
  touch(args, static_cast<Instruction>(instruction), reinterpret_cast<uint64_t>(there.data()), 0);
}

BATON_KERNEL(complete_later, std::uint64_t await) {
  AsyncCtx context = get_async_ctx(args);
  save_expected_notification_counter(context, reinterpret_cast<int32_t*>(await), 1);
}

BATON_KERNEL(store_at, InOut<float> y, std::int64_t index) { y.data()[index] = 1; }

BATON_KERNEL(load_rows, std::uint64_t there, std::int32_t rows, std::int32_t columns) {
  move_rows(there, rows, columns, [](auto& tile, auto& matrix) { TLOAD(tile, matrix); });
}

BATON_KERNEL(store_rows, std::uint64_t there, std::int32_t rows, std::int32_t columns) {
  move_rows(there, rows, columns, [](auto& tile, auto& matrix) { TSTORE(matrix, tile); });
}

}  // namespace baton::test
