// The types of communication.
#include <pto/target/qualifiers.hpp>
#ifndef PTO_COMM_COMM_TYPES_HPP
#define PTO_COMM_COMM_TYPES_HPP

#include <baton/comm_context.h>
#include <pto/comm/async_common/async_types.hpp>
#include <pto/comm/enums.hpp>
#include <pto/comm/remote.hpp>
#include <pto/comm/signal.hpp>

#endif
