// The older name of platform_comm/comm_context.h.
#include <platform_comm/comm_context.h>
