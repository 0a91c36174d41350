// Gives up with the code of its first scalar, if that is not 0; else asks for as many arguments as its config says.
#include "pto_orchestration_api.h"

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig report_config(const ChipTaskArgs&) {
  return PTO2OrchestrationConfig{2};
}

__attribute__((visibility("default"))) void report_entry(const ChipTaskArgs& args) {
  const int32_t code = static_cast<int32_t>(args.scalar(0));
  if (code != 0) {
    rt_report_fatal(code, "asked for %d", code);
    return;
  }
  ChipTensor out = args.tensor(0).ref();
  uint32_t first[1] = {0};
  set_tensor_data(out, 1, first, 5.0F);
}
}
