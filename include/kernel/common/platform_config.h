// Numbers of the platform that kernels know.
#include <pto/target/qualifiers.hpp>
#ifndef COMMON_PLATFORM_CONFIG_H
#define COMMON_PLATFORM_CONFIG_H

#include <stdint.h>

/// Ticks of get_sys_cnt() per second. BATON_A5 is defined for kernels of that generation.
#if defined(BATON_A5)
constexpr uint64_t PLATFORM_PROF_SYS_CNT_FREQ = 1000000000;
#else
constexpr uint64_t PLATFORM_PROF_SYS_CNT_FREQ = 50000000;
#endif

#endif
