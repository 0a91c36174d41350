// CommContext, what kernels receive of a domain, and the order of pipes.
#include <pto/target/qualifiers.hpp>
#ifndef PLATFORM_COMM_COMM_CONTEXT_H
#define PLATFORM_COMM_COMM_CONTEXT_H

#include <baton/comm_context.h>
#include <pto/common/order.hpp>

using CommDeviceContext = CommContext;

#endif
