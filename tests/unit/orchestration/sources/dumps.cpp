// Arguments that their author wants to see.
#include "numbers.h"
#include "pto_arg_with_deps.h"
#include "pto_orchestration_api.h"

extern "C" {

// x += 1, y = 2 x, x += 1, through an output; the last task would overtake the dumps of those before it.
void dumps(const ChipTaskArgs& orch_args) {
  const ChipTensor& x = orch_args.tensor(0).ref();
  const ChipTensor& y = orch_args.tensor(1).ref();
  uint32_t shapes[1] = {x.shapes[0]};
  TensorCreateInfo info(shapes, 1);
  CoreTaskArgs first;
  first.add_inout(x);
  first.add_scalar(1.0f);
  first.dump();
  rt_submit_aiv_task(FUNC_INCREASE, first);
  CoreTaskArgsWithDeps<1> second;
  second.add_input(x);
  second.add_output(info);
  const float factor = 2.0f;
  second.add_scalar(factor);
  second.dump(info, factor);
  TaskOutputTensors doubled = rt_submit_aiv_task(FUNC_SCALE, second);
  CoreTaskArgs third;
  third.add_input(doubled.get_ref(0), x);
  third.add_output(y);
  third.dump(x);
  rt_submit_aiv_task(FUNC_ADD, third);
  first.reset();
  first.add_inout(x);
  first.add_scalar(1.0f);
  rt_submit_aiv_task(FUNC_INCREASE, first);
}

// x += 1 a hundred times, in order only by the tasks that each names; each dumps what it leaves.
void manual_dumps(const ChipTaskArgs& orch_args) {
  const ChipTensor& x = orch_args.tensor(0).ref();
  PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
    PTO2TaskId last = PTO2TaskId::invalid();
    for (int i = 0; i < 100; ++i) {
      CoreTaskArgs args;
      args.add_inout(x);
      args.add_scalar(1.0f);
      args.set_dependencies(&last, last.is_valid() ? 1 : 0);
      args.dump(x);
      last = rt_submit_aiv_task(FUNC_INCREASE, args).task_id();
    }
  }
}

// What was not added cannot be seen.
void dumps_unknown(const ChipTaskArgs& orch_args) {
  CoreTaskArgs args;
  args.add_inout(orch_args.tensor(0).ref());
  args.add_scalar(1.0f);
  args.dump(2.0f);
  rt_submit_aiv_task(FUNC_INCREASE, args);
}
}
