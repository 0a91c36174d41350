// Collectives in a graph of chips whose kernels are compiled when they are first used.
#pragma once

#include <baton/chip.hpp>
#include <baton/domain.hpp>

namespace baton::test {

/// One of each kind of kernel, several blocks, and pieces: the room is smaller than the data. Throws what is wrong. As
/// a rank of `me` with a chip of these options, whose kernels are compiled also where those of libbaton would run.
void one_of_each_kind(const Domain& me, const ChipOptions& options);

}  // namespace baton::test
