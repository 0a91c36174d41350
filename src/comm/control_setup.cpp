#include "comm/control_setup.hpp"

#include <sys/random.h>

#include <chrono>
#include <cstring>

#include "base/fail.hpp"
#include "comm/memfd.hpp"
#include "wire/names.hpp"

namespace baton::comm {

JobToken make_token() {
  JobToken token{};
  if (::getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size())) fail_system("getrandom");
  return token;
}

ControlSegment make_control(std::uint32_t ranks, std::string_view name, const JobToken& token, Hosting hosting,
                            int processors) {
  return make_control(ranks, ranks, name, token, hosting, processors);
}

ControlSegment make_control(std::uint32_t ranks, std::uint32_t ranks_here, std::string_view name, const JobToken& token,
                            Hosting hosting, int processors, std::size_t behind) {
  // The last events of a process that dies are to stay; ranks of one process end together.
  const std::uint32_t event_areas = hosting == Hosting::processes ? ranks : 0;
  const std::size_t bytes = wire::control_bytes(ranks, event_areas);
  ControlSegment control;
  control.fd = create_memfd(wire::kControlSegmentName, bytes + behind);
  control.memory = map_memfd(control.fd, bytes + behind);
  wire::ControlHeader& header = control.header();
  header.version = wire::kControlVersion;
  header.rank_count = ranks;
  header.ranks_here = ranks_here;
  header.event_areas = event_areas;
  header.bytes = bytes;
  header.created_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::memcpy(header.token, token.data(), token.size());
  header.processors = static_cast<std::uint32_t>(processors);
  header.in_process = hosting == Hosting::processes ? 0 : 1;
  header.one_doorbell = hosting == Hosting::fibers ? 1 : 0;
  wire::store_name(header.name, name);
  header.magic = wire::kControlMagic;
  return control;
}

ControlSegment adopt_control(UniqueFd fd, std::uint32_t ranks) {
  ControlSegment control;
  control.memory = map_memfd(fd, wire::control_bytes(ranks, ranks));
  control.fd = std::move(fd);
  if (const char* defect = wire::control_defect(control.memory->address(), control.memory->bytes())) {
    fail(Code::protocol, "the control segment of the job is {}", defect);
  }
  if (control.header().rank_count != ranks) {
    fail(Code::protocol, "the control segment is for {} ranks instead of {}", control.header().rank_count, ranks);
  }
  return control;
}

void enter_rank(wire::ControlHeader& control, std::uint32_t rank, std::uint32_t pid,
                std::uint64_t start_time) noexcept {
  wire::RankBlock& block = wire::rank_block(control, rank);
  block.pid.store(pid, std::memory_order_relaxed);
  block.start_time.store(start_time, std::memory_order_relaxed);
  block.activity.store(static_cast<std::uint32_t>(wire::Operation::joining), std::memory_order_relaxed);
  // Pairs with the acquire in state_of(): a rank that sees a live one sees its pid.
  block.state.store(static_cast<std::uint32_t>(wire::RankState::live), std::memory_order_seq_cst);
}

void enter_far_rank(wire::ControlHeader& control, std::uint32_t rank, std::uint32_t pid,
                    std::string_view host) noexcept {
  wire::RankBlock& block = wire::rank_block(control, rank);
  block.pid.store(pid, std::memory_order_relaxed);
  // An empty name would mean this host.
  wire::store_name(block.host, host.empty() ? "?" : host);
  auto absent = static_cast<std::uint32_t>(wire::RankState::absent);
  // Pairs with the acquire in state_of(): a rank that sees a live one sees its host.
  block.state.compare_exchange_strong(absent, static_cast<std::uint32_t>(wire::RankState::live),
                                      std::memory_order_seq_cst);
}

}  // namespace baton::comm
