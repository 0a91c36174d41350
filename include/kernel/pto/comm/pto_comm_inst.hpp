// The instructions of communication.
#include <pto/target/qualifiers.hpp>
#ifndef PTO_COMM_PTO_COMM_INST_HPP
#define PTO_COMM_PTO_COMM_INST_HPP

#include <pto/comm/async_copy.hpp>
#include <pto/comm/comm_types.hpp>
#include <pto/comm/put_get.hpp>
#include <pto/comm/signal.hpp>

#endif
