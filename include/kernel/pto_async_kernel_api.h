// Completion after a kernel returned: conditions, requests, notifications; the newer form and the older one.
#include <pto/target/qualifiers.hpp>
#ifndef PTO_ASYNC_KERNEL_API_H
#define PTO_ASYNC_KERNEL_API_H

#include <backend/sdma/sdma_completion_kernel.h>
#include <intrinsic.h>
#include <pto_cq_kernel_api.h>
#include <pto_notify_kernel_api.h>
#include <pto_sq_kernel_api.h>
#include <completion/conditions.hpp>

#endif
