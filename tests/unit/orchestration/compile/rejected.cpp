// What must not compile, one case at a time (-DCASE=n).
#include "pto_orchestration_api.h"

ChipTensor make();

void orchestration(ChipTensor& x, const TensorCreateInfo& info) {
  CoreTaskArgs args;
#if CASE == 0  // compiles: the cases fail for their own reason
  args.add_input(x);
  args.add_output(info, info);
  args.add_output(x);
  args.add_scalar(1, 2.0f);
#elif CASE == 1
  args.add_input(make());
#elif CASE == 2
  uint32_t shapes[1] = {4};
  args.add_output(TensorCreateInfo(shapes, 1));
#elif CASE == 3
  args.add_output(x, info);
#elif CASE == 4
  args.add_scalar(x);
#elif CASE == 5
  CoreTaskArgs copy = args;
#elif CASE == 6
  ChipTensor& output = rt_submit_dummy_task(args).get_ref(0);
#endif
  static_cast<void>(x);
  static_cast<void>(info);
}
