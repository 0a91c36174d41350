// What a kernel is written in: types, instructions, order between pipes, communication.
#include <pto/target/qualifiers.hpp>
#ifndef PTO_PTO_INST_HPP
#define PTO_PTO_INST_HPP

#include <pto/comm/prefetch.hpp>
#include <pto/comm/pto_comm_inst.hpp>
#include <pto/common/fifo.hpp>
#include <pto/common/order.hpp>
#include <pto/common/pto_tile.hpp>
#include <pto/common/registers.hpp>
#include <pto/instructions/assign.hpp>
#include <pto/instructions/binary.hpp>
#include <pto/instructions/bodies.hpp>
#include <pto/instructions/concat.hpp>
#include <pto/instructions/convert.hpp>
#include <pto/instructions/events.hpp>
#include <pto/instructions/expand.hpp>
#include <pto/instructions/fill_pad.hpp>
#include <pto/instructions/gather.hpp>
#include <pto/instructions/load_store.hpp>
#include <pto/instructions/matmul.hpp>
#include <pto/instructions/move.hpp>
#include <pto/instructions/print.hpp>
#include <pto/instructions/reduce.hpp>
#include <pto/instructions/scalar.hpp>
#include <pto/instructions/scatter.hpp>
#include <pto/instructions/sort.hpp>
#include <pto/instructions/transpose.hpp>
#include <pto/instructions/unary.hpp>
#include <pto/npu/a5/utils.hpp>

#endif
