// From measurements to the rows of a table.
#pragma once

#include <vector>

#include "cli/tune/measurement.hpp"

namespace baton::cli {

/// For each operation, number of ranks and place: which algorithm up to how many bytes. An algorithm other than the
/// default one must be faster by more than `margin` (0.05: 5 %). Between two sizes the border is their geometric mean;
/// the rows of the largest number of ranks are for more, too, and those of the largest size for all larger ones.
[[nodiscard]] std::vector<collectives::TunedRule> rules_from(const std::vector<Measurement>& measurements,
                                                             double margin);

}  // namespace baton::cli
