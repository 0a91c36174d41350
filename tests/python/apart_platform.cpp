// The template of a platform, whose memory only copies reach, as that of a GPU. DLPack calls it device 3 of kDLExtDev.
#define baton_device_describe template_describe
#include "../../examples/platform_template/platform_template.cpp"
#undef baton_device_describe

extern "C" {

BATON_PLATFORM_EXPORT int baton_device_describe(BatonDevice* /*device*/, BatonDeviceDescription* out) {
  *out = {.clusters = 1, .memory = BATON_MEMORY_DEVICE, .features = 0};
  return 0;
}

BATON_PLATFORM_EXPORT int baton_device_dlpack(BatonDevice* /*device*/, int32_t* type_out, int32_t* number_out) {
  *type_out = 12;
  *number_out = 3;
  return 0;
}

}  // extern "C"
