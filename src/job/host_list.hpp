// Which hosts a job runs on, and which ranks on which.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton::job {

/// A host as people name it, with the ranks that it may take.
struct HostSlots {
  std::string name;
  std::optional<int> slots;  // nothing: its share of what is asked for
};

/// "a,b", "a:4,b:8", "[fd00::1]:4". Throws Error (invalid_argument).
[[nodiscard]] std::vector<HostSlots> parse_hosts(std::string_view text);

/// The lines of a file: a host as above, then nothing, ":4" or "slots=4"; `#` begins a comment. Throws Error
/// (invalid_argument) with the line, (system) if the file cannot be read.
[[nodiscard]] std::vector<HostSlots> read_hostfile(const std::string& path);

/// The ranks of one host are in one piece.
struct HostShare {
  std::string name;
  int first_rank = 0;
  int count = 0;
};
/// The name of the host of each rank.
[[nodiscard]] std::vector<std::string> names_by_rank(const std::vector<HostShare>& hosts);

/// Gives `ranks`, or as many as there are slots (one for each host without), to the hosts in their order. Hosts that
/// get none are left out. Throws Error (invalid_argument) if they do not fit.
[[nodiscard]] std::vector<HostShare> share_ranks(const std::vector<HostSlots>& hosts, std::optional<int> ranks);

}  // namespace baton::job
