// Tensor arguments of kernels, and scalar ones as bits.
#include <pto/target/qualifiers.hpp>
#ifndef TENSOR_H
#define TENSOR_H

#include <chip_tensor.h>
#include <string.h>
#include <pto/common/bfloat16.hpp>
#include <pto/common/half.hpp>
#include <pto/common/order.hpp>

#endif
