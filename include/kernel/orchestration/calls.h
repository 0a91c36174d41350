// What an orchestration and the runtime that loaded it agree on: plain structs, and a table of functions that the
// runtime gives to the library. So a library needs no symbol of its loader, and its C++ may be of another year.
#ifndef BATON_ORCHESTRATION_CALLS_H
#define BATON_ORCHESTRATION_CALLS_H

#include <chip_tensor.h>

enum : uint32_t { BATON_ORCHESTRATION_ABI_VERSION = 2 };

/// A tensor that does not exist yet: contiguous, in memory of the runtime.
struct BatonCreateInfo {
  DataType dtype;
  bool manual_dep;
  bool has_initial_value;
  uint32_t ndims;
  uint32_t shapes[5];
  uint64_t initial_value;  // the lowest bytes
};

enum BatonTensorUse : uint32_t {
  BATON_USE_INPUT,
  BATON_USE_INOUT,
  BATON_USE_OUTPUT,  // of memory that is there
  BATON_USE_CREATE,  // the object is a BatonCreateInfo
};

struct BatonTensorArgument {
  const void* object;  // ChipTensor or BatonCreateInfo
  BatonTensorUse use;
  uint32_t dump;  // 1: the author wants to see it
};

enum BatonPredicateOp : uint32_t {
  BATON_PREDICATE_NONE,
  BATON_PREDICATE_EQ,
  BATON_PREDICATE_NE,
  BATON_PREDICATE_GT,
  BATON_PREDICATE_LT,
  BATON_PREDICATE_GE,
  BATON_PREDICATE_LE,
};

/// The task runs only if the element compares so; it is read when the task is ready.
struct BatonPredicate {
  const ChipTensor* tensor;
  const uint32_t* indices;
  uint32_t ndims;
  BatonPredicateOp op;
  int64_t target;
};

enum BatonTaskKind : uint32_t {
  BATON_TASK_VECTOR,
  BATON_TASK_CUBE,
  BATON_TASK_CLUSTER,
  BATON_TASK_EMPTY,
  BATON_TASK_ALLOCATE,  // an empty one that only creates
  BATON_TASK_GRAPH,     // a function that submits; what stands between open_graph and close_graph
};

struct BatonPlaceInSource {
  const char* file;
  uint32_t line;
};

struct BatonTaskRequest {
  BatonTaskKind kind;
  int32_t kernels[3];  // of a cluster: cube, vector, vector; else the first. Below 0: none
  const BatonTensorArgument* tensors;
  const uint64_t* scalars;
  const PTO2TaskId* after;
  uint32_t tensor_count;
  uint32_t scalar_count;
  uint32_t after_count;
  int32_t blocks;
  uint32_t start_together;
  uint32_t completion_queue;        // 1: the last scalar becomes the address of the task's completion queue
  const BatonPredicate* predicate;  // null: none
  uint64_t dumped_scalars;          // bit i: the author wants to see scalar i
  const char* error;                // what went wrong when the arguments were added; null: nothing
  BatonPlaceInSource where;
};

enum BatonLogLevel : uint32_t { BATON_LOG_DEBUG, BATON_LOG_INFO, BATON_LOG_WARN, BATON_LOG_ERROR };

/// The runtime's side. None of them throws but assertion_failed: what goes wrong is noted, and what is called after
/// that does nothing.
struct BatonOrchestrationTable {
  uint32_t version;
  uint32_t table_bytes;
  /// Writes the created tensors to `outputs`, in their order; `outputs` is left alone if nothing was submitted.
  PTO2TaskId (*submit)(const BatonTaskRequest*, ChipTensor* outputs);
  /// 1: the function is to be called.
  uint32_t (*open_graph)(const BatonTaskRequest*);
  void (*close_graph)(BatonPlaceInSource);
  uint64_t (*get)(const ChipTensor*, uint32_t ndims, const uint32_t* indices, BatonPlaceInSource);
  void (*set)(const ChipTensor*, uint32_t ndims, const uint32_t* indices, uint64_t bits, BatonPlaceInSource);
  void (*open_scope)(uint32_t manual, BatonPlaceInSource);
  void (*close_scope)(BatonPlaceInSource);
  int32_t (*cluster_count)();
  int32_t (*vector_core_count)();
  void (*report_fatal)(int32_t code, const char* text, BatonPlaceInSource);
  uint32_t (*is_fatal)();
  void (*assertion_failed)(const char* text, BatonPlaceInSource);
  uint32_t (*log_enabled)(BatonLogLevel);
  void (*log)(BatonLogLevel, const char* text, BatonPlaceInSource);
  /// Of the DMA engine; 0 if there is none.
  uint64_t (*dma_workspace)();
  /// A tensor that carries the edge of a task which completes when the counter has reached `expected`.
  PTO2TaskId (*notification_wait)(uint64_t counter, int32_t expected, ChipTensor* token, BatonPlaceInSource);
};

#endif
