// out = (a + b) * factor. Kernels: 0 add, 1 scale.
#include "pto_orchestration_api.h"

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs&) {
  return PTO2OrchestrationConfig{4};
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipTaskArgs& args) {
  const ChipTensor& a = args.tensor(0).ref();
  const ChipTensor& b = args.tensor(1).ref();
  const ChipTensor& out = args.tensor(2).ref();
  const uint32_t shape[1] = {a.shapes[0]};

  PTO2_SCOPE() {
    TensorCreateInfo sum_info(shape, 1, DataType::FLOAT32);
    CoreTaskArgs add;
    add.add_input(a, b);
    add.add_output(sum_info);
    TaskOutputTensors added = rt_submit_aiv_task(0, add);
    const ChipTensor& sum = added.get_ref(0);

    CoreTaskArgs scale;
    scale.add_input(sum);
    scale.add_output(out);
    scale.add_scalar(args.scalar(0));
    rt_submit_aiv_task(1, scale);
  }
}
}
