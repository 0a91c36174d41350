// What the instructions of all tests share.
#undef PTO_BODIES
#define PTO_BODIES
#include <pto/pto-inst.hpp>
