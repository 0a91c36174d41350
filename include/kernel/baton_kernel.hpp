// All that a typed kernel is written in: BATON_KERNEL, tile instructions, communication, where it runs.
#include <pto/target/qualifiers.hpp>
#ifndef BATON_KERNEL_HPP
#define BATON_KERNEL_HPP

#include <intrinsic.h>
#include <pipe_sync.h>
#include <platform_comm/comm_context.h>
#include <tensor.h>
#include <pto/pto-inst.hpp>
#include <typed/kernel.hpp>

#endif
