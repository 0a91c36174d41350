// Ranks as processes of one host that share memory.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/backend.hpp"
#include "comm/backends/shm/rendezvous.hpp"
#include "comm/rendezvous.hpp"

namespace baton::shm {

/// Joins the job `name` as `rank` of `size`. `launcher`, if given, is the mail address of a launcher that wants to know
/// the job's control segment.
[[nodiscard]] std::unique_ptr<comm::Backend> rendezvous(const std::string& name, std::uint32_t rank, std::uint32_t size,
                                                        std::chrono::nanoseconds timeout,
                                                        const std::optional<std::string>& launcher);

/// The ranks of one host among those of a job over several.
struct HostGroup {
  std::string name;
  std::uint32_t rank;
  std::uint32_t size;               // of the job
  std::vector<std::uint32_t> here;  // ascending
  /// Called on a thread of its own for each rank of this host that this one finds dead.
  std::function<void(const comm::RankEnd&)> on_death;
  BadNews bad_news = {};
};

/// The same for these: they share a control segment for all ranks of the job, in which those of other hosts are absent.
[[nodiscard]] std::unique_ptr<comm::Backend> rendezvous(HostGroup group, std::chrono::nanoseconds timeout,
                                                        const std::optional<std::string>& launcher);

}  // namespace baton::shm
