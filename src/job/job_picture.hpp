// A picture of a job over several hosts: the blocks of all its ranks, as their hosts told them when somebody asked.
//
// It has the form of a control segment, so that what reads one reads the other, but no rank uses it. The launcher of
// the job and each of its agents keep one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "base/deadline.hpp"
#include "comm/hang_report.hpp"
#include "wire/control.hpp"

namespace baton::job {

/// The bytes of a picture: behind the control segment lies the state of each rank's process.
[[nodiscard]] constexpr std::size_t picture_bytes(std::size_t ranks) noexcept {
  return wire::control_bytes(ranks, ranks) + ranks * sizeof(comm::ProcessState);
}

/// Whether `header`, which has been checked, is of a picture: no rank is of the host that keeps it.
[[nodiscard]] inline bool is_picture(const wire::ControlHeader& header) noexcept { return header.ranks_here == 0; }

/// What there is to see in a control segment or a picture of which `bytes` are mapped; its header has been checked.
[[nodiscard]] comm::ControlView view_of(const wire::ControlHeader& header, std::size_t bytes) noexcept;

/// The address of the one who keeps the picture with this token.
[[nodiscard]] std::string picture_address(std::span<const std::uint8_t, 16> token);

/// Has the picture with this token made anew. False if nobody who could do that is reached, or does it in time.
[[nodiscard]] bool refresh_picture(std::span<const std::uint8_t, 16> token, const Deadline& deadline);

}  // namespace baton::job
