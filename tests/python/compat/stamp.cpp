// Kernel 7 stamps the first element on a cube core, kernel 9 the second on a vector core.
#include "pto_orchestration_api.h"

extern "C" __attribute__((visibility("default"))) void stamp_entry(const ChipTaskArgs& args) {
  const ChipTensor& out = args.tensor(0).ref();
  const uint32_t one[1] = {1};
  const uint32_t first[1] = {0};
  const uint32_t second[1] = {1};
  ChipTensor left = out.view(one, first);
  ChipTensor right = out.view(one, second);
  CoreTaskArgs cube;
  cube.add_output(left);
  rt_submit_aic_task(7, cube);
  CoreTaskArgs vector;
  vector.add_output(right);
  rt_submit_aiv_task(9, vector);
}
