// Chips of one GPU that talk.
#pragma once

#include "support/arguments.hpp"

namespace bench::cuda {

/// A put of `bytes` with a signal, one way, between two chips.
void measure_put(const Arguments& arguments);
/// Rows of 7,168 bfloat16 to the 8 experts that each token chooses of 256, on `ranks` chips; with method "layer" also
/// back and summed. The time is for one exchange.
void measure_experts(const Arguments& arguments);

}  // namespace bench::cuda
