// Making a control segment, and taking a place in it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/unique_fd.hpp"
#include "comm/shared_memory.hpp"
#include "wire/control.hpp"

namespace baton::comm {

using JobToken = std::array<std::uint8_t, 16>;

/// Random, from the kernel.
[[nodiscard]] JobToken make_token();

/// Where the ranks of a job live.
enum class Hosting : std::uint8_t { processes, threads, fibers };

/// A control segment with its memfd, which stays open so that `baton ps` finds it.
struct ControlSegment {
  UniqueFd fd;
  std::shared_ptr<SharedMemory> memory;

  [[nodiscard]] wire::ControlHeader& header() const noexcept {
    return *static_cast<wire::ControlHeader*>(memory->address());
  }
};

/// `processors` is how many of the ranks can run at once.
[[nodiscard]] ControlSegment make_control(std::uint32_t ranks, std::string_view name, const JobToken& token,
                                          Hosting hosting, int processors);
/// The same for a host that has `ranks_here` of the ranks, with `behind` zero bytes behind the segment.
[[nodiscard]] ControlSegment make_control(std::uint32_t ranks, std::uint32_t ranks_here, std::string_view name,
                                          const JobToken& token, Hosting hosting, int processors,
                                          std::size_t behind = 0);

/// Takes over a control segment that another process made. Throws Error (protocol) if it is none.
[[nodiscard]] ControlSegment adopt_control(UniqueFd fd, std::uint32_t ranks);

/// Enters the process `pid` of this host as `rank`.
void enter_rank(wire::ControlHeader& control, std::uint32_t rank, std::uint32_t pid, std::uint64_t start_time) noexcept;

/// The same for a process of another host. All ranks of this host may do so, at any time: what is known already stays.
void enter_far_rank(wire::ControlHeader& control, std::uint32_t rank, std::uint32_t pid,
                    std::string_view host) noexcept;

}  // namespace baton::comm
