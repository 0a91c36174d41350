#include "collectives/memory_mover.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <baton/error.hpp>
#include <baton/options.hpp>

#include "base/deadline.hpp"
#include "base/fiber.hpp"
#include "collectives/host_mover.hpp"

namespace baton::collectives {

MemoryMover::MemoryMover(const HostMover& host, const RawWindow& scratch, PeerMemory::Within within)
    : host_(host), memory_(scratch, Layout::kProcessAt, host.rank(), host.size(), within) {}

WriteGate::Word& MemoryMover::writing(int of) const { return host_.at<WritingLine>(of, Layout::kWritingAt).writing; }

void MemoryMover::read(int peer, const std::byte* from, std::byte* to, std::size_t bytes) const {
  constexpr std::size_t kPiece = HostMover::kBlockBytes;
  // An address of another process says nothing here.
  if (memory_.is_same_process(peer)) host_.note_read(from, bytes);
  host_.note_write(to, bytes);
  for (std::size_t done = 0; done < bytes; done += kPiece) {
    if (done != 0) host_.look_up();
    if (const int error = memory_.read(peer, from + done, to + done, std::min(kPiece, bytes - done)))
      throw_unreachable(peer, error);
  }
}

void MemoryMover::write(int peer, const std::byte* from, std::byte* to, std::size_t bytes) const {
  // The owner waits for one when it takes its memory back.
  constexpr std::size_t kPiece = HostMover::kBlockBytes;
  WriteGate::Word& mine = writing(host_.rank());
  host_.note_read(from, bytes);
  if (memory_.is_same_process(peer)) host_.note_write(to, bytes);
  for (std::size_t done = 0; done < bytes; done += kPiece) {
    if (done != 0) host_.look_up();
    if (!WriteGate::enter(host_.first_given_up(), mine, host_.call_number())) host_.throw_given_up();
    const int error = memory_.write(peer, from + done, to + done, std::min(kPiece, bytes - done));
    WriteGate::leave(mine);
    if (error != 0) throw_unreachable(peer, error);
  }
}

void MemoryMover::let_others_write() noexcept { written_in_ = host_.call_number(); }

std::byte* MemoryMover::bounce(std::size_t bytes) {
  if (bounce_.size() < bytes) bounce_.resize(bytes);
  return bounce_.data();
}

std::optional<int> MemoryMover::take_back(std::uint64_t call) const noexcept {
  if (written_in_ != call) return std::nullopt;
  const Deadline deadline = Deadline::within(options().wait_timeout);
  for (int peer = 0; peer < host_.size(); ++peer) {
    while (WriteGate::is_inside(writing(peer), call) && !memory_.is_gone(peer)) {
      // It copies some megabytes at most, if it runs.
      if (deadline.passed()) return peer;
      on_fiber() ? yield_fiber() : static_cast<void>(::sched_yield());
    }
  }
  return std::nullopt;
}

void MemoryMover::throw_unreachable(int peer, int error) const {
  host_.check_kept();
  host_.look_for_a_death(peer);
  throw Error(Code::invalid_argument,
              fmt::format("the data of rank {} is not all in its memory: {}", peer, std::strerror(error)));
}

}  // namespace baton::collectives
