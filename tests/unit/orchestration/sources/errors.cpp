// What is wrong, one function each. The tests know the lines by the marks at their ends.
#include <stdint.h>
#include "numbers.h"
#include "pto_arg_with_deps.h"
#include "pto_orchestration_api.h"

namespace {

void nothing(const GraphTaskArgs&) {}

}  // namespace

extern "C" {

void reported(const ChipTaskArgs& orch_args) {
  rt_report_fatal(PTO2_ERROR_EXPLICIT_ORCH_FATAL, "%u tensors are wrong", orch_args.tensor_count());  // reported
  always_assert(rt_is_fatal());
  // Does nothing and gives nothing back.
  CoreTaskArgs args;
  args.add_inout(orch_args.tensor(0).ref());
  args.add_scalar(1.0f);
  TaskOutputTensors none = rt_submit_aiv_task(FUNC_INCREASE, args);
  always_assert(!none.task_id().is_valid() && none.size() == 0);
  rt_report_fatal(77, "too late");
}

void own_code(const ChipTaskArgs&) { rt_report_fatal(77, "of my own"); }

void asserted(const ChipTaskArgs& orch_args) {
  always_assert(orch_args.tensor_count() == 17);  // asserted
  rt_report_fatal(77, "not reached");
}

void unknown_kernel(const ChipTaskArgs& orch_args) {
  CoreTaskArgs args;
  args.add_inout(orch_args.tensor(0).ref());
  rt_submit_aiv_task(99, args);  // unknown_kernel
}

void wrong_core(const ChipTaskArgs& orch_args) {
  CoreTaskArgs args;
  args.add_inout(orch_args.tensor(0).ref());
  rt_submit_aic_task(FUNC_INCREASE, args);
}

void no_kernel(const ChipTaskArgs& orch_args) {
  CoreTaskArgs args;
  args.add_inout(orch_args.tensor(0).ref());
  rt_submit_task(MixedKernels{}, args);
}

void tensor_after_scalar(const ChipTaskArgs& orch_args) {
  CoreTaskArgs args;
  args.add_scalar(1);
  args.add_inout(orch_args.tensor(0).ref());
  always_assert(args.has_error && args.error_msg != nullptr);
  args.set_error("a later one");
  rt_submit_aiv_task(FUNC_INCREASE, args);
}

void too_many_tensors(const ChipTaskArgs& orch_args) {
  CoreTaskArgs args;
  for (int i = 0; i < 33; ++i) args.add_input(orch_args.tensor(0).ref());
  rt_submit_dummy_task(args);
}

void too_many_scalars(const ChipTaskArgs&) {
  CoreTaskArgs args;
  for (int i = 0; i < 17; ++i) args.add_scalar(i);
  rt_submit_dummy_task(args);
}

void dependencies_twice(const ChipTaskArgs&) {
  PTO2TaskId task = rt_submit_dummy_task(CoreTaskArgs()).task_id();
  CoreTaskArgs args;
  args.set_dependencies(&task, 1);
  args.set_dependencies(nullptr, 0);
  args.set_dependencies(&task, 1);
  args.set_dependencies(&task, 1);
  rt_submit_dummy_task(args);
}

void too_many_dependencies(const ChipTaskArgs&) {
  PTO2TaskId task = rt_submit_dummy_task(CoreTaskArgs()).task_id();
  CoreTaskArgsWithDeps<1> args;
  args.add_dep(task, task);
  rt_submit_dummy_task(args);
}

void task_to_come(const ChipTaskArgs&) {
  PTO2TaskId task{uint64_t{1} << 40};
  CoreTaskArgs args;
  args.set_dependencies(&task, 1);
  rt_submit_dummy_task(args);
}

void no_blocks(const ChipTaskArgs& orch_args) {
  CoreTaskArgs args;
  args.add_inout(orch_args.tensor(0).ref());
  args.launch_spec.set_block_num(0);
  rt_submit_aiv_task(FUNC_MARK_BLOCK, args);
}

void too_many_blocks(const ChipTaskArgs& orch_args) {
  CoreTaskArgs args;
  args.add_inout(orch_args.tensor(0).ref());
  args.launch_spec.set_block_num(20000);
  rt_submit_task(MixedKernels{FUNC_CUBE_PART, FUNC_VECTOR_PART, INVALID_KERNEL_ID}, args);
}

void too_many_together(const ChipTaskArgs& orch_args) {
  CoreTaskArgs args;
  args.add_inout(orch_args.tensor(0).ref());
  args.launch_spec.set_block_num(static_cast<int16_t>(rt_available_aiv_count() + 1));
  args.launch_spec.set_require_sync_start(true);
  rt_submit_aiv_task(FUNC_MEET, args);  // too_many_together
}

void view_outside(const ChipTaskArgs& orch_args) {
  uint32_t shapes[1] = {2};
  uint32_t offsets[1] = {orch_args.tensor(0).ref().shapes[0] - 1};
  ChipTensor part = orch_args.tensor(0).ref().view(shapes, offsets);  // view_outside
  (void)part;
}

void reshape_to_more(const ChipTaskArgs& orch_args) {
  uint32_t shapes[1] = {orch_args.tensor(0).ref().shapes[0] + 1};
  (void)orch_args.tensor(0).ref().reshape(shapes, 1);
}

void output_after_its_scope(const ChipTaskArgs&) {
  ChipTensor kept{};
  uint32_t shapes[1] = {4};
  TensorCreateInfo info(shapes, 1);
  PTO2_SCOPE() { kept = alloc_tensors(info).task_id().is_valid() ? ChipTensor{} : kept; }
  PTO2_SCOPE() {
    TaskOutputTensors made = alloc_tensors(info);
    kept = made.get_ref(0);
  }
  CoreTaskArgs args;
  args.add_inout(kept);
  args.add_scalar(1.0f);
  rt_submit_aiv_task(FUNC_INCREASE, args);  // output_after_its_scope
}

void element_of_an_output_after_its_scope(const ChipTaskArgs&) {
  ChipTensor kept{};
  uint32_t shapes[1] = {4};
  TensorCreateInfo info(shapes, 1);
  PTO2_SCOPE() {
    TaskOutputTensors made = alloc_tensors(info);
    kept = made.get_ref(0);
  }
  uint32_t at[1] = {0};
  (void)get_tensor_data<float>(kept, 1, at);
}

void missing_output(const ChipTaskArgs&) {
  uint32_t shapes[1] = {4};
  TensorCreateInfo info(shapes, 1);
  TaskOutputTensors made = alloc_tensors(info);
  (void)made.get_ref(1);
}

void missing_tensor(const ChipTaskArgs& orch_args) { (void)orch_args.tensor(5).ref(); }
void missing_scalar(const ChipTaskArgs& orch_args) { (void)orch_args.scalar(5); }

void wrong_element(const ChipTaskArgs& orch_args) {
  uint32_t at[1] = {100};
  (void)get_tensor_data<float>(orch_args.tensor(0).ref(), 1, at);
}

void wrong_index_count(const ChipTaskArgs& orch_args) {
  uint32_t at[2] = {0, 0};
  set_tensor_data(orch_args.tensor(0).ref(), 2, at, 1.0f);
}

void element_of_an_output(const ChipTaskArgs& orch_args) {
  CoreTaskArgs args;
  args.add_inout(orch_args.tensor(0).ref());
  args.add_scalar(1.0f);
  rt_submit_aiv_task(FUNC_INCREASE, args);
  uint32_t at[1] = {0};
  (void)get_tensor_data<float>(orch_args.tensor(0).ref(), 1, at);
}

// Nobody notifies the counter, so the element is never written.
void element_that_never_comes(const ChipTaskArgs& orch_args) {
  uint32_t shapes[1] = {1};
  TensorCreateInfo info(shapes, 1, DataType::INT32);
  CoreTaskArgs wait;
  wait.add_output(info);
  wait.add_scalar(orch_args.tensor(0).ref().buffer.addr, 3);
  TaskOutputTensors token = rt_submit_aiv_task(FUNC_WAIT_FOR_COUNTER, wait);
  uint32_t at[1] = {0};
  (void)get_tensor_data<int32_t>(token.get_ref(0), 1, at);  // element_that_never_comes
}

void automatic_in_manual(const ChipTaskArgs&) {
  PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
    PTO2_SCOPE() {}  // automatic_in_manual
  }
}

void scope_end_too_many(const ChipTaskArgs&) {
  rt_scope_begin();
  rt_scope_end();
  rt_scope_end();
}

void graph_without_tensors(const ChipTaskArgs&) {
  GraphTaskArgs args;
  rt_submit_graph(nothing, args);  // graph_without_tensors
}

void graph_that_creates(const ChipTaskArgs& orch_args) {
  uint32_t shapes[1] = {4};
  TensorCreateInfo info(shapes, 1);
  GraphTaskArgs args;
  args.add_input(orch_args.tensor(0).ref());
  args.add_output(info);
  rt_submit_graph(nothing, args);
}

void predicate_of_a_float(const ChipTaskArgs& orch_args) {
  CoreTaskArgs args;
  args.add_inout(orch_args.tensor(0).ref());
  args.add_scalar(1.0f);
  CoreTaskPredicate predicate;
  predicate.operand.tensor = &orch_args.tensor(0).ref();
  predicate.operand.ndims = 1;
  predicate.op = PredicateOp::EQ;
  args.set_predicate(predicate);
  rt_submit_aiv_task(FUNC_INCREASE, args);
}

void unknown_memory(const ChipTaskArgs&) {
  static float own[4];
  uint32_t shapes[1] = {4};
  ChipTensor tensor = make_tensor_external(own, shapes, 1);
  CoreTaskArgs args;
  args.add_inout(tensor);
  args.add_scalar(1.0f);
  rt_submit_aiv_task(FUNC_INCREASE, args);
}

void crashing_kernel(const ChipTaskArgs& orch_args) {
  CoreTaskArgs args;
  args.add_inout(orch_args.tensor(0).ref());
  rt_submit_aiv_task(FUNC_CRASH, args);  // crashing_kernel
}
}
