// A platform of another version: nothing else of it may be called.
#include <cstdint>
#include <cstdlib>

extern "C" {
__attribute__((visibility("default"))) std::uint32_t baton_platform_version() { return 4711; }
__attribute__((visibility("default"))) int baton_device_open(int, void**) { std::abort(); }
}
