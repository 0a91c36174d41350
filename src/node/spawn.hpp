// Starting the process of a chip.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/unique_fd.hpp"

namespace baton::node {

struct ChipCommand {
  std::string program;                   // a path
  std::vector<std::string> environment;  // NAME=value
  int segment_fd = -1;
  int socket_fd = -1;
};

struct ChipProcess {
  pid_t pid = -1;
  UniqueFd pidfd;
};

/// The chip has its own process group and none of the descriptors of this process but standard output, standard error
/// and those of the command. Throws Error (launch_failed).
[[nodiscard]] ChipProcess spawn_chip(const ChipCommand& command);

/// The environment of this process for chip `chip` of `size` that meet at `job`.
[[nodiscard]] std::vector<std::string> chip_environment(int chip, int size, const std::string& job);

/// The program that chips run: what the user says; this program, if it can be a chip; else baton-chip. Throws Error
/// (launch_failed) as job::find_program_of_baton().
[[nodiscard]] std::string find_chip_program(const std::string& asked);

}  // namespace baton::node
