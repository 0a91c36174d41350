// A GPU that is divided among chips.
#pragma once

#include "support/arguments.hpp"

namespace bench::cuda {

/// out = a + b of `bytes` each, on `ranks` chips at once: parts of one GPU, each of which has its share of the
/// elements.
void measure_parts(const Arguments& arguments);

}  // namespace bench::cuda
