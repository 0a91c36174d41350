// Baton: all of its public interface but worker.hpp, because a program that includes that one is also its chips, and
// chip_worker.hpp.
#pragma once

#include <baton/chip.hpp>                 // cores and memory that run graphs of kernels
#include <baton/collectives.hpp>          // what all ranks do together with their data
#include <baton/device_list.hpp>          // lists of devices as people write them
#include <baton/domain.hpp>               // ranks that share windows
#include <baton/error.hpp>                // what is thrown
#include <baton/graph.hpp>                // what an orchestration submits to
#include <baton/graph_collectives.hpp>    // collectives as tasks of a graph
#include <baton/inproc.hpp>               // many ranks in one process
#include <baton/join.hpp>                 // becoming a rank
#include <baton/kernel_handle.hpp>        // kernels as values
#include <baton/kernel_source.hpp>        // kernels and orchestrations compiled at run time
#include <baton/options.hpp>              // environment variables
#include <baton/own_process.hpp>          // objects that a forked child must not use
#include <baton/remote_ptr.hpp>           // addresses in the windows of peers
#include <baton/signal.hpp>               // notify and wait
#include <baton/started_collectives.hpp>  // collectives that finish later
#include <baton/tensor.hpp>               // views of memory
#include <baton/window.hpp>               // memory that all ranks reach
