// The lanes' side of a session of matrix products: two groups of four warps, each with half of the rows of the sums in
// its registers, carry out the director's commands until it ends the session.
#pragma once

#include <pto/target/cuda/kept_loads.hpp>
#include <pto/target/cuda/matrix_commands.hpp>
#include <pto/target/cuda/matrix_sums.hpp>
#include <pto/target/cuda/wgmma.hpp>

namespace baton::cuda {

__device__ __forceinline__ uint64_t descriptor_of(const Operand& operand, uint32_t block, uint32_t step) {
  const uint32_t chunk = step >> operand.shift();
  const uint32_t in_chunk = step - (chunk << operand.shift());
  // A step along lines is 32 bytes.
  const uint32_t low = operand.low + block * operand.block + chunk * operand.chunk + in_chunk * 2;
  return uint64_t{operand.high} << 32 | low;
}

/// A portion of the tiles of a command is no longer needed: the warp has read it. Released to the loader, in
/// Loader::await_read(). By one thread.
__device__ __forceinline__ void tell_read(uint32_t portion, uint32_t number, uint32_t warp) {
  asm volatile("st.release.cta.shared::cta.u32 [%0], %1;" ::"r"(shared_address(&control().matrix.read[portion][warp])),
               "r"(number + 1)
               : "memory");
}

/// The steps of a command that the matrix unit may still be at, those of one portion or of both. What waits for them is
/// told when the next ones have begun, so that the matrix unit always has work, or when there is nothing to begin.
struct UnderWay {
  uint32_t number;
  bool first;   // the first portion is among them
  bool second;  // the second one is, so that the command is carried out behind them
};

__device__ __forceinline__ void tell_finished(UnderWay& under_way, uint32_t lane) {
  __syncwarp();
  if (lane % kWarp == 0) {
    if (under_way.first) tell_read(0, under_way.number, lane / kWarp);
    if (under_way.second) {
      tell_read(1, under_way.number, lane / kWarp);
      // Releases what the warp wrote and that it has read; pairs with wait_command().
      barrier_arrive(&control().matrix.done[CommandRing::place(under_way.number)]);
    }
  }
  under_way.first = under_way.second = false;
}

/// Whether that portion of both tiles is there. One answer for the whole warp, all of which has acquired it then.
__device__ __forceinline__ bool has_portion(LoadPhase left, LoadPhase right, uint32_t portion) {
  const uint32_t behind = portion * uint32_t{sizeof(uint64_t)};
  const bool is_left_there = barrier_has_ended_at((left & ~1u) + behind, left & 1);
  const bool is_right_there = barrier_has_ended_at((right & ~1u) + behind, right & 1);
  return __all_sync(~0u, is_left_there && is_right_there) != 0;
}
/// Waits for it. Loaders may have to know before what this warp has read.
__device__ __forceinline__ void await_portion(LoadPhase left, LoadPhase right, uint32_t portion, UnderWay& under_way,
                                              uint32_t lane) {
  if (has_portion(left, right, portion)) return;
  if (__any_sync(~0u, under_way.first || under_way.second) != 0) {
    finish_products();
    tell_finished(under_way, lane);
  }
  const uint32_t behind = portion * uint32_t{sizeof(uint64_t)};
  barrier_wait_at((left & ~1u) + behind, left & 1);
  barrier_wait_at((right & ~1u) + behind, right & 1);
}

/// Some of four steps of a product, as many as lie in a chunk of 128 bytes. `left` and `right` are the low words of the
/// descriptors of the first one.
template <bool is_bfloat16, bool across, uint32_t kBegin, uint32_t kEnd, int kBlocks, int kCols>
__device__ __forceinline__ void begin_steps(ThreadSums<kBlocks, kCols>& sums, const Operand& left_operand,
                                            const Operand& right_operand, uint32_t left, uint32_t right,
                                            uint32_t onto) {
#pragma unroll
  for (uint32_t step = kBegin; step < kEnd; ++step) {
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      multiply<is_bfloat16, across, kCols>(
          sums.of[block],
          uint64_t{left_operand.high} << 32 | (left + step * left_operand.step() + block * left_operand.block),
          uint64_t{right_operand.high} << 32 | (right + step * right_operand.step()), step == 0 ? onto : 1);
    }
  }
}

__device__ __forceinline__ bool is_so(bool holds) { return __any_sync(~0u, holds) != 0; }

/// What a product is, in registers.
struct ProductSteps {
  Operand left;
  Operand right;
  LoadPhase left_load;
  LoadPhase right_load;
  uint32_t steps;
  uint32_t first_steps;
  uint32_t onto;

  __device__ __forceinline__ explicit ProductSteps(const MatrixCommand& command)
      : left(command.left),
        right(command.right),
        left_load(command.left_load),
        right_load(command.right_load),
        steps(command.steps),
        first_steps(command.first_steps),
        onto(command.onto) {}
  /// Whether its steps can be begun four at a time, in each portion.
  __device__ __forceinline__ bool is_regular() const {
    return left.step() != 0 && right.step() != 0 && (steps | first_steps) % kTogether == 0 && first_steps < steps;
  }
};

/// A product and those that follow it, as long as they are of the same kind and have come already. Returns the number
/// behind the last one. What comes next is found out while the matrix unit is at steps: between them it waits.
template <MatrixWork kWork, int kBlocks, int kCols>
__device__ __forceinline__ uint32_t multiply_regular(ThreadSums<kBlocks, kCols>& sums, ProductSteps product,
                                                     uint32_t group, uint32_t number, uint32_t lane) {
  const MatrixUnit& unit = control().matrix;
  UnderWay under_way{number, false, false};
  bool is_there = false;  // the portion whose steps begin next
  bool goes_on = true;
  while (goes_on) {
    uint32_t left = product.left.begin() + group * kBlocks * product.left.block;
    uint32_t right = product.right.begin();
    uint32_t step = 0;
    constexpr uint32_t kFirst = kTogether / 2;
    const auto begin_some = [&]<uint32_t kBegin, uint32_t kEnd>() {
      begin_steps<is_of_bfloat16(kWork), is_across(kWork), kBegin, kEnd>(sums, product.left, product.right, left, right,
                                                                         product.onto);
    };
    const auto begin_portion = [&](uint32_t end, bool first, bool second) {
      begin_products();
      begin_some.template operator()<0, kFirst>();
      commit_products();
      // The matrix unit has something to do, and the one before is told as soon as it is behind it.
      finish_older_products();
      tell_finished(under_way, lane);
      under_way = {number, first, second};
      begin_some.template operator()<kFirst, kTogether>();
      product.onto = 1;
      for (step += kTogether; is_so(step < end); step += kTogether) {
        left += product.left.four_steps();
        right += product.right.four_steps();
        begin_some.template operator()<0, kTogether>();
      }
      left += product.left.four_steps();
      right += product.right.four_steps();
      commit_products();
    };
    if (!is_there) await_portion(product.left_load, product.right_load, 0, under_way, lane);
    // Tiles that are not divided come with both portions at once.
    const bool is_divided = is_so(product.first_steps != 0);
    if (is_divided) {
      begin_portion(product.first_steps, true, false);
      is_there = has_portion(product.left_load, product.right_load, 1);
    }
    if (!is_divided || !is_there) await_portion(product.left_load, product.right_load, 1, under_way, lane);
    begin_portion(product.steps, !is_divided, true);
    const uint32_t place = CommandRing::place(number + 1);
    // Acquires the next command, if there is one.
    const bool is_ready = barrier_has_ended_at(shared_address(&unit.ready[place]), CommandRing::parity(number + 1));
    goes_on = __all_sync(~0u, is_ready) != 0;
    if (goes_on) {
      const MatrixCommand& next = unit.commands[place];
      product = ProductSteps(next);
      goes_on = is_so(next.work == kWork && product.is_regular());
      is_there = goes_on && has_portion(product.left_load, product.right_load, 0);
    }
    ++number;
  }
  finish_products();
  tell_finished(under_way, lane);
  return number;
}

/// One product, whatever its steps are, and one of them after the other.
template <MatrixWork kWork, int kBlocks, int kCols>
__device__ __forceinline__ void multiply_any(ThreadSums<kBlocks, kCols>& sums, const ProductSteps& product,
                                             uint32_t group) {
  wait_load(product.left_load);
  wait_load(product.right_load);
  uint32_t onto = product.onto;
#pragma unroll 1
  for (uint32_t step = 0; step < product.steps; ++step) {
    const uint64_t right = descriptor_of(product.right, 0, product.right.first + step);
    begin_products();
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      multiply<is_of_bfloat16(kWork), is_across(kWork), kCols>(
          sums.of[block], descriptor_of(product.left, group * kBlocks + block, product.left.first + step), right, onto);
    }
    commit_products();
    finish_products();
    onto = 1;
  }
}

/// A product, or several. Returns the number of the command behind it.
template <MatrixWork kWork, Begins kBegins, int kBlocks, int kCols>
__device__ __forceinline__ uint32_t multiply_some(ThreadSums<kBlocks, kCols>& sums, const MatrixCommand& command,
                                                  uint32_t group, uint32_t number, uint32_t lane) {
  const ProductSteps product(command);
  const bool has_rows = group * kBlocks * kRowsOfGroup < command.rows;
  if constexpr (kBegins == Begins::at_zero) {
    if (is_so(has_rows && product.is_regular())) {
      return multiply_regular<kWork>(sums, product, group, number, lane);
    }
  }
  if (is_so(has_rows)) multiply_any<kWork>(sums, product, group);
  UnderWay all{number, true, true};
  tell_finished(all, lane);
  return number + 1;
}

/// With sums that begin at zero or at what the accumulator has. The compiler waits for each instruction of the matrix
/// unit in a function where something else may write sums, or that calls others: so these are two, and not a part of
/// lane_life().
template <Begins kBegins, int kBlocks, int kCols>
__device__ __forceinline__ void run_session(uint32_t lane) {
  MatrixUnit& unit = control().matrix;
  // The same for all threads of a warp, which the compiler is told so.
  const uint32_t group = __shfl_sync(~0u, lane / 128, 0);
  ThreadSums<kBlocks, kCols> sums;
#pragma unroll
  for (int i = 0; i < kBlocks * kCols / 2; ++i) sums.of[i / (kCols / 2)][i % (kCols / 2)] = 0;
  uint32_t number = unit.first;
  const auto place_of_next = [&] {
    const uint32_t place = CommandRing::place(number);
    // Acquires the command that the director released.
    barrier_wait(&unit.ready[place], CommandRing::parity(number));
    return place;
  };
  const auto end_command = [&](uint32_t place) {
    __syncwarp();
    // Releases what the warp wrote; pairs with wait_command().
    if (lane % kWarp == 0) barrier_arrive(&unit.done[place]);
    ++number;
  };
  uint32_t place = place_of_next();
  if constexpr (kBegins == Begins::at_accumulator) {
    fill_sums(sums, lane, unit.commands[place]);
    end_command(place);
    place = place_of_next();
  }
  while (true) {
    const MatrixCommand& command = unit.commands[place];
    using enum MatrixWork;
    switch (command.work) {
      case multiply_half: number = multiply_some<multiply_half, kBegins>(sums, command, group, number, lane); break;
      case multiply_half_across:
        number = multiply_some<multiply_half_across, kBegins>(sums, command, group, number, lane);
        break;
      case multiply_bfloat16:
        number = multiply_some<multiply_bfloat16, kBegins>(sums, command, group, number, lane);
        break;
      case multiply_bfloat16_across:
        number = multiply_some<multiply_bfloat16_across, kBegins>(sums, command, group, number, lane);
        break;
      case end: return end_command(place);
      default: store_sums(sums, lane, group, command); end_command(place);
    }
    place = place_of_next();
  }
}

template <Begins kBegins>
__device__ __forceinline__ void run_session(Sums sums, uint32_t lane) {
  switch (sums) {
    case Sums::rows128_cols128: return run_session<kBegins, 1, 128>(lane);
    case Sums::rows256_cols128: return run_session<kBegins, 2, 128>(lane);
    default: return run_session<kBegins, 1, 256>(lane);
  }
}

#if defined(PTO_MATRIX_SESSIONS)
__device__ void run_session(Sums sums, uint32_t lane) { run_session<Begins::at_zero>(sums, lane); }
__device__ void run_filled_session(Sums sums, uint32_t lane) { run_session<Begins::at_accumulator>(sums, lane); }
#endif

}  // namespace baton::cuda
