// Another name of the orchestration API.
#ifndef BATON_RUNTIME_H
#define BATON_RUNTIME_H

#include <pto_orchestration_api.h>

#endif
