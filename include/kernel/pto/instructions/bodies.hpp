// What all instructions share, and their loops for the types that most kernels use: compiled once, in an object that
// kernels link. `baton compile` defines PTO_BODIES as nothing when it makes that object, and as `extern` in a kernel
// that links it; without it, a kernel compiles what it uses of this.
#pragma once

// Other kinds of code have no such object.
#if defined(PTO_BODIES) && !defined(PTO_NO_CHECKS) && !defined(PTO_LANES)

#include <pto/comm/async_copy.hpp>
#include <pto/comm/put_get.hpp>
#include <pto/comm/signal.hpp>
#include <pto/common/fifo.hpp>
#include <pto/instructions/assign.hpp>
#include <pto/instructions/binary.hpp>
#include <pto/instructions/concat.hpp>
#include <pto/instructions/convert.hpp>
#include <pto/instructions/expand.hpp>
#include <pto/instructions/fill_pad.hpp>
#include <pto/instructions/gather.hpp>
#include <pto/instructions/load_store.hpp>
#include <pto/instructions/matmul.hpp>
#include <pto/instructions/move.hpp>
#include <pto/instructions/reduce.hpp>
#include <pto/instructions/scalar.hpp>
#include <pto/instructions/sort.hpp>
#include <pto/instructions/transpose.hpp>
#include <pto/instructions/unary.hpp>

namespace baton::kernel {

// comm/async_copy.hpp
PTO_BODIES template uint64_t check_line_view<>(const BatonPlace&, const char*, const GlobalView&);
// comm/put_get.hpp
PTO_BODIES template bool copy_past_tiles<>(const TileView (&)[2], const GlobalView&, const GlobalView&);
PTO_BODIES template FarOperands begin_put<>(const BatonPlace&, const TileView (&)[2], int, const GlobalView&,
                                            const GlobalView&, const Cut (&)[2], uint32_t);
PTO_BODIES template void put_bytes<>(const TileView (&)[2], const GlobalView&, const GlobalView&);
// comm/signal.hpp
PTO_BODIES template void check_signal_view<>(const BatonPlace&, const GlobalView&);
// common/fifo.hpp
PTO_BODIES template GlobalView part_of_slot<>(const BatonPlace&, const TileView&, uint8_t*, int64_t, int64_t, int64_t);
// common/tile.hpp
PTO_BODIES template void refuse_valid_size<>(const char*, int, int64_t, Where);
PTO_BODIES template void begin_scalar_access<>(const BatonPlace&, uint32_t, const void*, int64_t, int64_t, int64_t,
                                               int64_t);
// common/tile_view.hpp
PTO_BODIES template BatonTileRange range_of<>(const TileUse&);
// instructions/assign.hpp
PTO_BODIES template void refuse_place<>(uint32_t, int64_t, int64_t, Where);
PTO_BODIES template BatonBuffer place_in_buffer<>(uint32_t, int64_t, int64_t, Where);
// instructions/concat.hpp
PTO_BODIES template void concatenate<>(const BatonPlace&, const TileView&, const TileView&, const TileView&);
// instructions/elementwise.hpp
PTO_BODIES template void refuse_unary<>(BatonPlace, TileView, TileView);
PTO_BODIES template void refuse_binary<>(BatonPlace, TileView, TileView, TileView);
PTO_BODIES template Work begin_unary<>(const char*, Where, const TileView&, const TileView&);
PTO_BODIES template Work begin_binary<>(const char*, Where, const TileView&, const TileView&, const TileView&);
PTO_BODIES template Work begin_with_scalar<>(const char*, Where, const TileView&, const TileView&, const void*);
// instructions/expand.hpp
PTO_BODIES template void check_expansion<>(const BatonPlace&, const TileView&, const TileView&, const TileView&);
PTO_BODIES template void refuse_expansion<>(BatonPlace, TileView, TileView, TileView);
PTO_BODIES template void check_column<>(const BatonPlace&, const TileView&, const TileView&);
PTO_BODIES template Work begin_row_expansion<>(const char*, Where, const TileView&, const TileView&, const TileView&);
PTO_BODIES template Work begin_col_expansion<>(const char*, Where, const TileView&, const TileView&, const TileView&);
PTO_BODIES template void expand_column<>(const char*, Where, const TileView&, const TileView&);
PTO_BODIES template void expand_row<>(const char*, Where, const TileView&, const TileView&);
// instructions/far_access.hpp
PTO_BODIES template unsigned char* bring_near<>(const BatonPlace&, const GlobalView&, uint32_t);
PTO_BODIES template void send_back<>(const BatonPlace&, const GlobalView&, const unsigned char*, uint32_t);
// instructions/fill_pad.hpp
PTO_BODIES template void fill_pad_bytes<>(const BatonPlace&, const TileView&, const TileView&, const void*);
// instructions/gather.hpp
PTO_BODIES template void begin_gather<>(const BatonPlace&, const TileView&, const TileView&, const TileView&,
                                        const TileView&);
// instructions/global_access.hpp
PTO_BODIES template void check_extents<>(const BatonPlace&, const Extents&);
PTO_BODIES template void check_inner_stride<>(const BatonPlace&, pto::Layout, const Extents&);
PTO_BODIES template bool is_packed<>(pto::Layout, const Extents&);
PTO_BODIES template void fail_unknown_address<>(BatonPlace, const char*, const void*, uint64_t);
PTO_BODIES template bool check_address<>(const BatonPlace&, const char*, const void*, uint64_t);
PTO_BODIES template bool check_access<>(const BatonPlace&, const char*, const GlobalView&);
PTO_BODIES template BatonGlobalRange range_of<>(const GlobalView&, uint32_t);
PTO_BODIES template void issue_transfer<>(const BatonPlace&, uint32_t, const TileUse&, const GlobalView&, uint32_t);
// instructions/load_store.hpp
PTO_BODIES template bool begin_transfer<>(const BatonPlace&, uint32_t, const TileView&, const GlobalView&, Way,
                                          uint32_t);
PTO_BODIES template void poison_last_blocks<>(const TileView&, int);
PTO_BODIES template void load_tile<>(Where, const TileView&, GlobalView, int);
PTO_BODIES template void store_bytes<>(const TileView&, const GlobalView&);
// instructions/matmul.hpp
PTO_BODIES template void check_product<>(const BatonPlace&, const Product&);
PTO_BODIES template void begin_product<>(Where, const Product&);
PTO_BODIES template void begin_product_onto<>(Where, const Product&, const TileView&);
PTO_BODIES template void begin_product_onto_bias<>(Where, const Product&, const TileView&);
// instructions/move.hpp
PTO_BODIES template void begin_move<>(const BatonPlace&, const TileView&, const TileView&, Moves, Corner, int);
PTO_BODIES template void move_lines<>(const TileView&, const TileView&, Corner);
// instructions/operands.hpp
PTO_BODIES template void fail_without_place<>(BatonPlace, const char*, TileView);
PTO_BODIES template void fail_unusable<>(BatonPlace, const char*, TileView);
PTO_BODIES template void check_tile<>(const BatonPlace&, const char*, const TileView&);
PTO_BODIES template void check_region<>(const BatonPlace&, const char*, const TileView&, int64_t, int64_t);
PTO_BODIES template void check_not_empty<>(const BatonPlace&, const char*, const TileView&);
PTO_BODIES template void fail_valid_sizes<>(BatonPlace, const char*, TileView, const char*, TileView);
PTO_BODIES template void check_equal<>(const BatonPlace&, const char*, int64_t, const char*, int64_t);
PTO_BODIES template void check_apart<>(const BatonPlace&, const char*, const TileUse&, const char*, const TileUse&);
PTO_BODIES template void tell<>(BatonCore&, const BatonPlace&, uint32_t, const TileUse*, uint32_t,
                                const BatonGlobalRange*, uint32_t);
// instructions/reduce.hpp
PTO_BODIES template void refuse_row_reduction<>(BatonPlace, TileView, TileView, TileView);
PTO_BODIES template Work begin_row_reduction<>(const char*, Where, const TileView&, const TileView&, const TileView&);
PTO_BODIES template Work begin_col_reduction<>(const char*, Where, const TileView&, const TileView&);
// instructions/scratch.hpp
PTO_BODIES template void check_scratch_view<>(const BatonPlace&, const TileView&, int64_t);
PTO_BODIES template void clobber<>(const TileView&);
PTO_BODIES template void check_and_clobber_view<>(const BatonPlace&, const TileView&, const TileView&, const TileView&);
PTO_BODIES template void lose_scratch<>(const BatonPlace&, const TileView&, const TileView&);
// instructions/sort.hpp
PTO_BODIES template void lose_sorting_scratch<>(const BatonPlace&, const TileView&, const TileView&, const TileView&);
PTO_BODIES template void check_list<>(const BatonPlace&, const TileUse&, const TileView&);
PTO_BODIES template void begin_merge<>(const BatonPlace&, const TileView&, const TileView&, const TileView*, int);
// instructions/transpose.hpp
PTO_BODIES template void begin_transposition<>(const BatonPlace&, const TileView&, const TileView&, const TileView&);
// instructions/transfer.hpp
PTO_BODIES template void copy_lines<>(unsigned char*, int64_t, const unsigned char*, int64_t, int64_t, int64_t);
PTO_BODIES template void copy_bytes<>(const TileView&, const GlobalView&, Way);
// instructions/unary.hpp
PTO_BODIES template void fill<>(const TileView&, const void*);
// target/fail.hpp
PTO_BODIES template void fail_with<>(BatonPlace, BatonKernelError, const MessagePart*, size_t);
// target/vector_loop.hpp
PTO_BODIES template void repeat<>(Pattern&, const void*, size_t);

#define PTO_LOOPS_WITH_TWO(OPERATION, ELEMENT)                                      \
  PTO_BODIES template void combine<ELEMENT, OPERATION>(const Work&, OPERATION);     \
  PTO_BODIES template void reduce_rows<ELEMENT, OPERATION>(const Work&, OPERATION); \
  PTO_BODIES template void reduce_cols<ELEMENT, OPERATION>(const Work&, OPERATION);
#define PTO_LOOP_WITH_TWO(OPERATION, ELEMENT) \
  PTO_BODIES template void combine<ELEMENT, OPERATION>(const Work&, OPERATION);
#define PTO_LOOP_WITH_ONE(OPERATION, ELEMENT) \
  PTO_BODIES template void apply<ELEMENT, OPERATION>(const Work&, OPERATION);
#define PTO_FOR_NUMBERS(LOOP, OPERATION) LOOP(OPERATION, float) LOOP(OPERATION, half) LOOP(OPERATION, int32_t)
#define PTO_FOR_REALS(LOOP, OPERATION) LOOP(OPERATION, float) LOOP(OPERATION, half)

PTO_FOR_NUMBERS(PTO_LOOPS_WITH_TWO, AddNumbers)
PTO_FOR_NUMBERS(PTO_LOOPS_WITH_TWO, MultiplyNumbers)
PTO_FOR_NUMBERS(PTO_LOOPS_WITH_TWO, LargerNumber)
PTO_FOR_NUMBERS(PTO_LOOPS_WITH_TWO, SmallerNumber)
PTO_FOR_NUMBERS(PTO_LOOP_WITH_TWO, SubtractNumbers)
PTO_FOR_REALS(PTO_LOOP_WITH_TWO, DivideNumbers)
PTO_FOR_REALS(PTO_LOOP_WITH_TWO, ExponentialOfDifference)
PTO_FOR_REALS(PTO_LOOP_WITH_TWO, LeakySlope)
PTO_FOR_REALS(PTO_LOOP_WITH_TWO, AddScaled)
PTO_LOOP_WITH_TWO(AndBits, int32_t)
PTO_LOOP_WITH_TWO(OrBits, int32_t)
PTO_LOOP_WITH_TWO(ShiftLeft, int32_t)
PTO_LOOP_WITH_TWO(ShiftRight, int32_t)

PTO_FOR_REALS(PTO_LOOP_WITH_ONE, Exponential)
PTO_FOR_REALS(PTO_LOOP_WITH_ONE, Logarithm)
PTO_FOR_REALS(PTO_LOOP_WITH_ONE, SquareRoot)
PTO_FOR_REALS(PTO_LOOP_WITH_ONE, ReciprocalSquareRoot)
PTO_FOR_REALS(PTO_LOOP_WITH_ONE, Reciprocal)
PTO_FOR_REALS(PTO_LOOP_WITH_ONE, Magnitude)
PTO_FOR_REALS(PTO_LOOP_WITH_ONE, Negative)
PTO_FOR_REALS(PTO_LOOP_WITH_ONE, Rectified)
PTO_LOOP_WITH_ONE(Complement, int32_t)

#undef PTO_FOR_REALS
#undef PTO_FOR_NUMBERS
#undef PTO_LOOP_WITH_ONE
#undef PTO_LOOP_WITH_TWO
#undef PTO_LOOPS_WITH_TWO

#define PTO_CONVERSION(TO, FROM) PTO_BODIES template void convert_rows<TO, FROM>(const Work&, Conversion);
PTO_CONVERSION(half, float)
PTO_CONVERSION(bfloat16_t, float)
PTO_CONVERSION(int32_t, float)
PTO_CONVERSION(float, half)
PTO_CONVERSION(int8_t, half)
PTO_CONVERSION(float, bfloat16_t)
PTO_CONVERSION(float, int32_t)
PTO_CONVERSION(half, int32_t)
#undef PTO_CONVERSION

PTO_BODIES template void add_tile_product<float, float>(const Product&);
PTO_BODIES template void add_tile_product<float, half>(const Product&);
PTO_BODIES template void add_tile_product<float, bfloat16_t>(const Product&);
PTO_BODIES template void add_tile_product<int32_t, int8_t>(const Product&);

PTO_BODIES template void add_elements<float, float>(const TileView&, const GlobalView&);
PTO_BODIES template void convert_elements<half, float>(const TileView&, const GlobalView&);
PTO_BODIES template void convert_elements<bfloat16_t, float>(const TileView&, const GlobalView&);

PTO_BODIES template void sort_block<float>(unsigned char*, const float*, const uint32_t*, int);
PTO_BODIES template void merge_all<float>(unsigned char*, const PairList (&)[4], int64_t);
PTO_BODIES template void merge_some<float>(unsigned char*, PairList (&)[4], int64_t, bool);
PTO_BODIES template void sort_rows<float>(const BatonPlace&, const TileView&, const TileView&, const TileView&);
PTO_BODIES template void merge_runs<float>(const BatonPlace&, const TileView&, const TileView&, uint32_t);
PTO_BODIES template void merge_lists<float>(const TileView&, pto::MrgSortExecutedNumList&, const TileView*, int, bool);

#define PTO_FOR_WORDS(WORD)                                                                  \
  PTO_BODIES template void move_transposing<WORD>(const TileView&, const TileView&, Corner); \
  PTO_BODIES template void transpose_tile<WORD>(const TileView&, const TileView&);
#define PTO_GATHER(WORD)                                                                                    \
  PTO_BODIES template void gather_rows<WORD, int32_t>(const BatonPlace&, const TileView&, const TileView&,  \
                                                      const TileView&);                                     \
  PTO_BODIES template void gather_rows<WORD, uint32_t>(const BatonPlace&, const TileView&, const TileView&, \
                                                       const TileView&);                                    \
  PTO_BODIES template void keep_columns<WORD>(const BatonPlace&, const TileView&, const TileView&, KeptColumns);
PTO_FOR_WORDS(uint8_t)
PTO_FOR_WORDS(uint16_t)
PTO_FOR_WORDS(uint32_t)
PTO_GATHER(uint16_t)
PTO_GATHER(uint32_t)
#undef PTO_FOR_WORDS
#undef PTO_GATHER

PTO_BODIES template void move_converting<half, float>(const TileView&, const TileView&, Corner);
PTO_BODIES template void move_converting<bfloat16_t, float>(const TileView&, const TileView&, Corner);

}  // namespace baton::kernel

#endif
