// The sum of x over the ranks of a domain. Kernel 0: sum_ranks.
#include "pto_orchestration_api.h"

extern "C" __attribute__((visibility("default"))) void sum_ranks_entry(const ChipTaskArgs& args) {
  const ChipTensor& x = args.tensor(0).ref();
  const ChipTensor& out = args.tensor(1).ref();
  const ChipTensor& inbox = args.tensor(2).ref();
  const ChipTensor& signal = args.tensor(3).ref();
  CoreTaskArgs task;
  task.add_input(x);
  task.add_output(out);
  task.add_inout(inbox, signal);
  task.add_scalar(args.scalar(0));
  rt_submit_aiv_task(0, task);
}
