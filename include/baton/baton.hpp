// Baton: all of its public interface.
#pragma once

#include <baton/device_list.hpp>  // lists of devices as people write them
#include <baton/domain.hpp>       // ranks that share windows
#include <baton/error.hpp>        // what is thrown
#include <baton/inproc.hpp>       // many ranks in one process
#include <baton/join.hpp>         // becoming a rank
#include <baton/options.hpp>      // environment variables
#include <baton/remote_ptr.hpp>   // addresses in the windows of peers
#include <baton/signal.hpp>       // notify and wait
#include <baton/window.hpp>       // memory that all ranks reach
