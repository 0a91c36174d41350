// The rendezvous of ranks on several hosts that another launcher than `baton run` started.
#pragma once

#include <memory>

#include <baton/options.hpp>

#include "comm/rendezvous.hpp"
#include "job/launcher_environment.hpp"

namespace baton::job {

/// The first rank of each host starts an agent there (`baton gather`), and that of rank 0 is where the agents meet: at
/// the place that the user or the launcher names, with the token in BATON_JOB_TOKEN; or, if the launcher has a PMIx
/// server, at a place and with a token that rank 0 tells the others through it. Blocks until all have come.
[[nodiscard]] std::unique_ptr<comm::Rendezvous> join_gathering(const Assignment& assignment, const Options& options);

}  // namespace baton::job
