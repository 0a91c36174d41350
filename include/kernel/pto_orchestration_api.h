// What orchestrations are written in: functions `extern "C" void NAME(const ChipTaskArgs&)` that submit tasks. C++17.
#ifndef PTO_ORCHESTRATION_API_H
#define PTO_ORCHESTRATION_API_H

// Authors count on these.
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <orchestration/deferred.hpp>   // completion queues, notifications
#include <orchestration/elements.hpp>   // scopes, single elements, counts of cores
#include <orchestration/graphs.hpp>     // functions that submit, as tasks
#include <orchestration/report.hpp>     // errors, the log
#include <orchestration/submit.hpp>     // tasks and their outputs
#include <orchestration/task_args.hpp>  // arguments
#include <orchestration/tensors.hpp>    // tensors, views, what is to be created

/// What `extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs&)` says about its
/// orchestration.
struct PTO2OrchestrationConfig {
  int expected_arg_count;  // fewer tensors and scalars are an error; 0: not checked
};

#endif
