// Edges: explicit ones, scopes, predicates, graphs as tasks, completion.
#include <stdint.h>
#include "numbers.h"
#include "pto_arg_with_deps.h"
#include "pto_orchestration_api.h"
#include "runtime.h"

namespace {

PTO2TaskId increase(const ChipTensor& x, float value, const PTO2TaskId* after = nullptr, uint32_t count = 0) {
  CoreTaskArgs args;
  args.add_inout(x);
  args.add_scalar(value);
  args.set_dependencies(after, count);
  return rt_submit_aiv_task(FUNC_INCREASE, args).task_id();
}

PTO2TaskId scale(const ChipTensor& x, const ChipTensor& y, float factor, PTO2TaskId after) {
  CoreTaskArgsWithDeps<2> args;
  args.add_input(x);
  args.add_output(y);
  args.add_scalar(factor);
  args.add_dep(after);
  args.add_dep(PTO2TaskId::invalid());
  return rt_submit_aiv_task(FUNC_SCALE, args).task_id();
}

void add_twice(const GraphTaskArgs& args, int times, float value) {
  for (int i = 0; i < times; ++i) {
    CoreTaskArgs one;
    one.add_inout(args.tensor(0).ref());
    one.add_scalar(value);
    rt_submit_aiv_task(FUNC_INCREASE, one);
  }
  uint32_t shapes[1] = {args.tensor(0).ref().shapes[0]};
  TensorCreateInfo info(shapes, 1);
  CoreTaskArgs scale_args;
  scale_args.add_input(args.tensor(0).ref());
  scale_args.add_output(info);
  scale_args.copy_scalars_from(args, 0, 1);
  TaskOutputTensors scaled = rt_submit_aiv_task(FUNC_SCALE, scale_args);
  CoreTaskArgs sum;
  sum.add_input(scaled.get_ref(0), scaled.get_ref(0));
  sum.add_output(args.tensor(1).ref());
  rt_submit_aiv_task(FUNC_ADD, sum);
}

}  // namespace

extern "C" {

// x goes through ten tasks that only their explicit edges keep in order.
void manual(const ChipTaskArgs& orch_args) {
  const ChipTensor& x = orch_args.tensor(0).ref();
  const ChipTensor& y = orch_args.tensor(1).ref();
  PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
    PTO2TaskId last = PTO2TaskId::invalid();
    for (int i = 0; i < 5; ++i) {
      last = increase(x, 1.0f, &last, 1);
      last = scale(x, y, 2.0f, last);
      PTO2_SCOPE_GUARD(PTO2ScopeMode::MANUAL);
      last = scale(y, x, 1.0f, last);
    }
    always_assert(last.is_valid());
    always_assert(!(last == PTO2TaskId::invalid()));
  }
}

// Tensors that only their creator orders: two writers of one output, which an explicit edge keeps in order.
void only_creator(const ChipTaskArgs& orch_args) {
  const ChipTensor& y = orch_args.tensor(0).ref();
  uint32_t shapes[1] = {y.shapes[0]};
  TensorCreateInfo info(shapes, 1, DataType::FLOAT32, true);
  info.set_initial_value(1.0f);
  TaskOutputTensors made = alloc_tensors(info);
  PTO2TaskId first = increase(made.get_ref(0), 1.0f);
  PTO2TaskId second = increase(made.get_ref(0), 1.0f, &first, 1);
  CoreTaskArgs args;
  args.add_input(made.get_ref(0), made.get_ref(0));
  args.add_output(y);
  args.set_dependencies(&second, 1);
  rt_submit_aiv_task(FUNC_ADD, args);
}

// x[i] is increased where flags[i] passes the comparison of that number.
void predicates(const ChipTaskArgs& orch_args) {
  const ChipTensor& flags = orch_args.tensor(0).ref();
  const ChipTensor& x = orch_args.tensor(1).ref();
  const PredicateOp ops[] = {PredicateOp::EQ, PredicateOp::NE, PredicateOp::GT,
                             PredicateOp::LT, PredicateOp::GE, PredicateOp::LE};
  for (uint32_t i = 0; i < 6; ++i) {
    uint32_t shapes[1] = {1};
    uint32_t offsets[1] = {i};
    ChipTensor part = x.view(shapes, offsets);
    CoreTaskArgs args;
    args.add_inout(part);
    args.add_scalar(1.0f);
    args.set_allow_early_resolve();
    CoreTaskPredicate predicate;
    predicate.operand.tensor = &flags;
    predicate.operand.ndims = 1;
    predicate.operand.indices[0] = i;
    predicate.op = ops[i];
    predicate.target = -2;
    args.set_predicate(predicate);
    rt_submit_aiv_task(FUNC_INCREASE, args);
  }
}

// Tasks that wait for one that did not run go on.
void after_a_task_that_did_not_run(const ChipTaskArgs& orch_args) {
  const ChipTensor& flags = orch_args.tensor(0).ref();
  const ChipTensor& x = orch_args.tensor(1).ref();
  CoreTaskArgs args;
  args.add_inout(x);
  args.launch_spec.set_block_num(4);
  CoreTaskPredicate predicate;
  predicate.operand.tensor = &flags;
  predicate.operand.ndims = 1;
  predicate.op = PredicateOp::GT;
  predicate.target = 1000;
  args.set_predicate(predicate);
  rt_submit_task({FUNC_CUBE_PART, FUNC_VECTOR_PART, FUNC_VECTOR_PART}, args);
  increase(x, 3.0f);
}

void graphs(const ChipTaskArgs& orch_args) {
  for (int round = 0; round < 3; ++round) {
    GraphTaskArgs args;
    args.add_inout(orch_args.tensor(0).ref());
    args.add_output(orch_args.tensor(1).ref());
    args.add_scalar(3.0f);
    if (round == 0) {
      rt_submit_graph(add_twice, args, 2, 1.0f);
    } else {
      rt_submit_graph(uint64_t{17}, add_twice, args, 2, 1.0f);
    }
  }
}

// The counter is increased by tasks; the token's reader comes after that.
void notification(const ChipTaskArgs& orch_args) {
  const ChipTensor& counter = orch_args.tensor(0).ref();
  const ChipTensor& y = orch_args.tensor(1).ref();
  uint32_t shapes[1] = {1};
  TensorCreateInfo info(shapes, 1, DataType::INT32, true);
  CoreTaskArgs wait;
  wait.add_output(info);
  wait.add_scalar(counter.buffer.addr, 3);
  TaskOutputTensors token = rt_submit_aiv_task(FUNC_WAIT_FOR_COUNTER, wait);
  CoreTaskArgs reader;
  reader.add_input(token.get_ref(0));
  reader.add_output(y);
  reader.add_scalar(counter.buffer.addr);
  rt_submit_aiv_task(FUNC_READ_COUNTER, reader);
  CoreTaskArgs notifier;
  notifier.add_input(counter);
  notifier.add_scalar(3);
  rt_submit_aiv_task(FUNC_NOTIFY, notifier);
}

// Nobody notifies.
void lonely_wait(const ChipTaskArgs& orch_args) {
  const ChipTensor& counter = orch_args.tensor(0).ref();
  uint32_t shapes[1] = {1};
  TensorCreateInfo info(shapes, 1, DataType::INT32);
  CoreTaskArgs wait;
  wait.add_output(info);
  wait.add_scalar(counter.buffer.addr, 3);
  rt_submit_aiv_task(FUNC_WAIT_FOR_COUNTER, wait);  // lonely_wait
}

// A notification, with the older names.
void notification_in_queue(const ChipTaskArgs& orch_args) {
  const ChipTensor& counter = orch_args.tensor(0).ref();
  const ChipTensor& y = orch_args.tensor(1).ref();
  always_assert(pto2_rt_get_sdma_context() != 0);
  uint64_t queue = pto2_rt_alloc_cq();
  uint32_t shapes[1] = {1};
  TensorCreateInfo info(shapes, 1, DataType::INT32);
  CoreTaskArgs wait;
  wait.add_output(info);
  wait.add_scalar(counter.buffer.addr, 3);
  TaskOutputTensors token = pto2_rt_submit_aiv_task_deferred(FUNC_WAIT_FOR_COUNTER_IN_QUEUE, wait, queue);
  Tensor waited = pto2_rt_submit_notification_wait_task(counter.buffer.addr, 2);
  CoreTaskArgs both;
  both.add_input(token.get_ref(0), waited);
  TaskOutputTensors met = rt_submit_dummy_task(both);
  PTO2TaskId after = met.task_id();
  CoreTaskArgs reader;
  reader.add_input(token.get_ref(0));
  reader.add_output(y);
  reader.add_scalar(counter.buffer.addr);
  reader.set_dependencies(&after, 1);
  rt_submit_aiv_task(FUNC_READ_COUNTER, reader);
  CoreTaskArgs notifier;
  notifier.add_input(counter);
  notifier.add_scalar(3);
  rt_submit_aiv_task(FUNC_NOTIFY, notifier);
}

// Elements of tensors that tasks write: for graphs that run while they are built.
void elements(const ChipTaskArgs& orch_args) {
  const ChipTensor& x = orch_args.tensor(0).ref();
  uint32_t at[1] = {1};
  increase(x, 2.0f);
  float seen = get_tensor_data<float>(x, 1, at);
  set_tensor_data(x, 1, at, seen * 10);
  PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
    uint32_t shapes[1] = {1};
    TensorCreateInfo info(shapes, 1);
    CoreTaskArgs args;
    uint32_t first[1] = {0};
    ChipTensor one = x.view(shapes, first);
    args.add_input(one);
    args.add_output(info);
    args.add_scalar(100.0f);
    TaskOutputTensors made = rt_submit_aiv_task(FUNC_SCALE, args);
    float scaled = get_tensor_data<float>(made.get_ref(0), 1, first);
    set_tensor_data(x, 1, first, scaled);
  }
  at[0] = 2;
  uint64_t bits = get_tensor_data(x, 1, at);
  always_assert(from_u64<float>(bits) == get_tensor_data<float>(x, 1, at));
}

// Elements of tensors that no task writes: for either way.
void elements_of_entry_tensors(const ChipTaskArgs& orch_args) {
  const ChipTensor& table = orch_args.tensor(0).ref();
  const ChipTensor& x = orch_args.tensor(1).ref();
  uint32_t at[2] = {1, 2};
  int32_t times = get_tensor_data<int32_t>(table, 2, at);
  at[0] = 0;
  set_tensor_data(table, 2, at, times + 1);
  for (int32_t i = 0; i < times; ++i) increase(x, 1.0f);
}
}
