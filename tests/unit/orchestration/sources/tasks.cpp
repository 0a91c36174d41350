// Tasks, their arguments and outputs.
#include <stdint.h>
#include "aicpu/cache_maintenance.h"
#include "numbers.h"
#include "pto_orchestration_api.h"

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig aicpu_orchestration_config(
    const ChipTaskArgs& orch_args) {
  (void)orch_args;
  return PTO2OrchestrationConfig{.expected_arg_count = 0};
}

__attribute__((visibility("default"))) PTO2OrchestrationConfig three_arguments(const ChipTaskArgs& orch_args) {
  (void)orch_args;
  return PTO2OrchestrationConfig{.expected_arg_count = 3};
}

// y = (a + b) * factor + (a + b)
__attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {
  const ChipTensor& a = orch_args.tensor(0).ref();
  const ChipTensor& b = orch_args.tensor(1).ref();
  const ChipTensor& y = orch_args.tensor(2).ref();
  float factor = from_u64<float>(orch_args.scalar(0));
  uint32_t shapes[1] = {a.shapes[0]};
  TensorCreateInfo info(shapes, 1, DataType::FLOAT32);

  CoreTaskArgs sum_args;
  sum_args.add_input(a, b);
  sum_args.add_output(info);
  TaskOutputTensors sum = rt_submit_aiv_task(FUNC_ADD, sum_args);
  PTO2_SCOPE() {
    const ChipTensor& c = sum.get_ref(0);
    CoreTaskArgs scale_args;
    scale_args.add_input(c);
    scale_args.add_output(info);
    scale_args.add_scalar(factor);
    TaskOutputTensors scaled = rt_submit_aiv_task(FUNC_SCALE, scale_args);
    CoreTaskArgs last;
    last.add_input(scaled.get_ref(0), c);
    last.add_output(y);
    rt_submit_aiv_task(FUNC_ADD, last);
  }
  LOG_INFO("%u tensors", orch_args.tensor_count());
}

// Each half of x by a view, then all of it in another shape.
void halves(const ChipTaskArgs& orch_args) {
  ChipTensor& x = orch_args.tensor(0).ref();
  uint32_t half = x.shapes[0] / 2;
  for (uint32_t i = 0; i < 2; ++i) {
    uint32_t shapes[1] = {half};
    uint32_t offsets[1] = {i * half};
    ChipTensor part = x.view(shapes, offsets);
    CoreTaskArgs args;
    args.add_inout(part);
    args.add_scalar(static_cast<float>(10 * (i + 1)));
    rt_submit_aiv_task(FUNC_INCREASE, args);
  }
  uint32_t table[2] = {2, half};
  ChipTensor shaped = x.reshape(table, 2);
  CoreTaskArgs args;
  args.add_inout(shaped);
  args.add_scalar(1.0f);
  rt_submit_aic_task(FUNC_CUBE_INCREASE, args);
}

// What a kernel sees of an empty view, and of one that is not.
void empty_views(const ChipTaskArgs& orch_args) {
  ChipTensor x = orch_args.tensor(0).ref();
  for (uint32_t i = 0; i < 2; ++i) {
    uint32_t shapes[1] = {i == 0 ? 0u : 3u};
    uint32_t offsets[1] = {i == 0 ? 77u : 1u};
    ChipTensor part = x.view(shapes, offsets);
    uint32_t one[1] = {1};
    uint32_t at[1] = {i};
    ChipTensor answer = orch_args.tensor(1).ref().view(one, at);
    CoreTaskArgs args;
    args.add_input(part);
    args.add_output(answer);
    rt_submit_aiv_task(FUNC_TELL_SHAPE, args);
  }
}

// Scalars in four forms; the last two are copied.
void scalars(const ChipTaskArgs& orch_args) {
  enum class Mode : uint8_t { second = 2 };
  CoreTaskArgs args;
  args.add_output(orch_args.tensor(0).ref());
  args.add_scalar(int32_t{-1}, Mode::second);
  args.copy_scalars_from(orch_args, 1, 2);
  rt_submit_aiv_task(FUNC_TELL_SCALARS, args);
  args.reset();
  if (args.tensor_count() + args.scalar_count() != 0)
    rt_report_fatal(PTO2_ERROR_INVALID_ARGS, "reset() left something");
}

// Outputs that begin with a value; a dummy between who writes and who reads; tensors without a kernel.
void outputs(const ChipTaskArgs& orch_args) {
  const ChipTensor& y = orch_args.tensor(0).ref();
  uint32_t shapes[1] = {y.shapes[0]};
  TensorCreateInfo filled(shapes, 1);
  filled.set_initial_value(2.5f);
  always_assert(filled.buffer_size_bytes() == y.shapes[0] * get_element_size(y.dtype));
  TaskOutputTensors made = alloc_tensors(filled, filled);
  always_assert(made.size() == 2 && made.task_id().is_valid());
  always_assert(made.get_ref(1).owner_task_id == made.task_id());
  CoreTaskArgs dummy;
  dummy.add_inout(made.get_ref(0));
  rt_submit_dummy_task(dummy);
  CoreTaskArgs args;
  args.add_input(made.get_ref(0), made.get_ref(1));
  args.add_output(y);
  args.dump(y);
  rt_submit_aiv_task(FUNC_ADD, args);
  TensorCreateInfo infos[2] = {filled, filled};
  always_assert(alloc_tensors(infos, 2).size() == 2);
  CoreTaskArgs created;
  created.add_output(filled, filled, filled);
  always_assert(alloc_tensors(created).size() == 3);
}

// A tensor over the memory of another one, by its address.
void external(const ChipTaskArgs& orch_args) {
  const ChipTensor& x = orch_args.tensor(0).ref();
  uint32_t shapes[1] = {2};
  ChipTensor tail = make_tensor_external(x.data_as<float>() + 2, shapes, 1);
  CoreTaskArgs args;
  args.add_inout(tail);
  args.add_scalar(5.0f);
  rt_submit_aiv_task(FUNC_INCREASE, args);
}

// What has no effect on a simulated chip, what is written to the log, and a tensor by its description.
void words_beside_tasks(const ChipTaskArgs& orch_args) {
  const ChipTensor& x = orch_args.tensor(0).ref();
  cache_invalidate_range(x.data_as<void>(), x.buffer.size);
  SPIN_WAIT_HINT();
  LOG_DEBUG("debug %d", 1);
  LOG_INFO("info %d", 2);
  LOG_TIMING("timing %d", 3);
  LOG_WARN("warn %d", 4);
  LOG_ERROR("error %d", 5);
  uint32_t shapes[1] = {2};
  TensorCreateInfo info(shapes, 1);
  ChipTensor head;
  init_tensor_from_create_info(head, info, x.data_as<void>(), info.buffer_size_bytes());
  CoreTaskArgs args;
  args.add_inout(head);
  args.add_scalar(5.0f);
  args.set_task_timing_slot(3);
  args.set_allow_early_resolve(false);
  rt_submit_aiv_task(FUNC_INCREASE, args);
}

void many_blocks(const ChipTaskArgs& orch_args) {
  CoreTaskArgs args;
  args.add_inout(orch_args.tensor(0).ref());
  args.launch_spec.set_block_num(static_cast<int16_t>(orch_args.tensor(0).ref().shapes[0]));
  rt_submit_aiv_task(FUNC_MARK_BLOCK, args);
}

void blocks_together(const ChipTaskArgs& orch_args) {
  CoreTaskArgs args;
  args.add_inout(orch_args.tensor(0).ref());
  args.launch_spec.set_core_num(static_cast<int16_t>(rt_available_aiv_count()));
  args.launch_spec.set_require_sync_start(true);
  rt_submit_aiv_task(FUNC_MEET, args);
}

// Two blocks of a whole cluster, then one of a cube and one vector core.
void clusters(const ChipTaskArgs& orch_args) {
  CoreTaskArgs args;
  args.add_inout(orch_args.tensor(0).ref());
  args.launch_spec.set_block_num(2);
  MixedKernels all;
  all.aic_kernel_id = FUNC_CUBE_PART;
  all.aiv0_kernel_id = FUNC_VECTOR_PART;
  all.aiv1_kernel_id = FUNC_VECTOR_PART;
  rt_submit_task(all, args);
  CoreTaskArgs again;
  again.add_inout(orch_args.tensor(0).ref());
  rt_submit_task(MixedKernels{FUNC_CUBE_PART, INVALID_KERNEL_ID, FUNC_VECTOR_PART}, again);
}

void counts_of_cores(const ChipTaskArgs& orch_args) {
  uint32_t at[1] = {0};
  set_tensor_data(orch_args.tensor(0).ref(), 1, at, static_cast<float>(rt_available_cluster_count()));
  at[0] = 1;
  set_tensor_data(orch_args.tensor(0).ref(), 1, at, static_cast<float>(rt_available_aiv_count()));
}
}
