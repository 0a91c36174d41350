// A kernel of typed_test.cpp, as files see it that do not include the headers of kernels.
#pragma once

#include <baton/kernel_handle.hpp>

BATON_KERNEL_DECLARE(typed_scale, baton::In<float> x, baton::Out<float> y, float factor);

/// &typed_scale, as such a file sees it.
const baton::Kernel* address_of_typed_scale();
