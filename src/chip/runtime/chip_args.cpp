#include <baton/chip_args.hpp>

#include "base/fail.hpp"

namespace baton {

const Tensor& ChipArgs::tensor(std::size_t i) const {
  if (i >= tensors_.size())
    fail(Situation::no_such_argument, "tensor {} was asked for; the task has {}", i, tensors_.size());
  return tensors_[i];
}

std::int64_t ChipArgs::scalar_slot_at(std::size_t i) const {
  if (i >= scalars_.size())
    fail(Situation::no_such_argument, "scalar {} was asked for; the task has {}", i, scalars_.size());
  return scalars_[i];
}

}  // namespace baton
