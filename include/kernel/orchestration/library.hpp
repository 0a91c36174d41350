// What makes a shared library one of orchestrations: it is in every source that includes the API, wherever it does so.
#ifndef BATON_ORCHESTRATION_LIBRARY_HPP
#define BATON_ORCHESTRATION_LIBRARY_HPP

#include <orchestration/calls.h>

#if defined(BATON_ORCHESTRATION_RUNTIME)

namespace baton::orchestration {

const BatonOrchestrationTable& runtime();

}  // namespace baton::orchestration

#else

// Weak: a library of several source files has them once.
#define BATON_ORCHESTRATION_EXPORTED __attribute__((weak, visibility("default")))

extern "C" {

BATON_ORCHESTRATION_EXPORTED extern const uint32_t baton_orchestration_abi_version;
const uint32_t baton_orchestration_abi_version = BATON_ORCHESTRATION_ABI_VERSION;

__attribute__((weak, visibility("hidden"))) extern const BatonOrchestrationTable* baton_orchestration_table;
const BatonOrchestrationTable* baton_orchestration_table = nullptr;

BATON_ORCHESTRATION_EXPORTED void baton_orchestration_bind(const BatonOrchestrationTable* table);
void baton_orchestration_bind(const BatonOrchestrationTable* table) { baton_orchestration_table = table; }
}

namespace baton::orchestration {

inline const BatonOrchestrationTable& runtime() { return *baton_orchestration_table; }

}  // namespace baton::orchestration

#endif

#endif
