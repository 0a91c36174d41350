// Expert dispatch and combine for kernels: any number of tokens, experts, choices and ranks.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <moe/describe.hpp>
#include <moe/exchange.hpp>
#include <moe/layout.hpp>
#include <moe/plan.hpp>
