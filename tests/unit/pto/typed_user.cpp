#include "typed_kernels.hpp"

const baton::Kernel* address_of_typed_scale() { return &typed_scale; }
