// Hosts for tests: network namespaces that scripts/hosts-lab makes, one set for a test program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"

namespace baton::test {

class HostsLab {
 public:
  /// The lab of this program, made at the first call and removed at its end.
  [[nodiscard]] static const HostsLab& of_this_program();

  HostsLab(const HostsLab&) = delete;
  HostsLab& operator=(const HostsLab&) = delete;
  ~HostsLab();

  /// Why there is none; empty if there is one.
  [[nodiscard]] const std::string& missing() const noexcept { return missing_; }
  [[nodiscard]] static std::uint32_t count() noexcept { return kHosts; }

  /// For run_as_rank() of a rank that is on `host_of[rank]`: enters that host, and meets the others at `hub`.
  [[nodiscard]] std::vector<std::string> environment(const std::string& hub, const std::vector<std::uint32_t>& host_of,
                                                     std::uint32_t rank) const;
  /// Takes the link of a host down, or up again.
  void cut(std::uint32_t host) const;
  void mend(std::uint32_t host) const;
  /// What one host sends to another is lost on its way, as in a firewall that says nothing; or arrives again.
  void lose(std::uint32_t from, std::uint32_t to) const;
  void lose_no_more(std::uint32_t from, std::uint32_t to) const;

 private:
  static constexpr std::uint32_t kHosts = 4;
  HostsLab();
  /// From now on the lab is removed when this program ends, even if it is killed.
  void watch();
  void change_neighbour(std::uint32_t from, std::uint32_t to, const char* change) const;
  [[nodiscard]] int call(const std::string& command, const std::string& argument) const;

  std::string prefix_;
  std::string missing_;
  /// An end of a pipe: closed when this program ends.
  UniqueFd alive_;
};

/// Ranks on two hosts, three or four, not the same number on each, neighbours together and apart.
[[nodiscard]] std::vector<std::uint32_t> spread_over_hosts(int ranks);

/// In a rank: enters its host, if it has one. Before any thread exists.
void enter_host();
/// In a rank that is on one of several hosts: the hub it meets the others at; empty otherwise.
[[nodiscard]] std::string hub_of_rank();
[[nodiscard]] std::vector<std::uint32_t> hosts_of_ranks();
/// The address of this host's link.
[[nodiscard]] std::string address_of_host();
/// How many bytes have left this host by its link.
[[nodiscard]] std::uint64_t bytes_sent_by_host();
[[nodiscard]] std::uint64_t packets_sent_by_host();

}  // namespace baton::test
