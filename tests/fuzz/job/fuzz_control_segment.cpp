// Control segments: bytes of other processes. Refused, or described in bounded sizes, known enumerators and printable
// text.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <baton/error.hpp>

#include "fuzz_target.hpp"
#include "job/job_listing.hpp"
#include "job/job_snapshot.hpp"

namespace {

/// One cache line, so that a vector of them is aligned like a control segment and a read past its end is seen.
struct alignas(baton::wire::kCacheLine) Line {
  std::byte bytes[baton::wire::kCacheLine];
};

bool is_printable(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
}

void require_sane(const baton::job::JobSnapshot& job, std::size_t bytes) {
  FUZZ_REQUIRE(!job.ranks.empty());
  FUZZ_REQUIRE(baton::wire::control_bytes(job.ranks.size(), 0) <= bytes);
  FUZZ_REQUIRE(is_printable(job.name) && job.name.size() <= baton::wire::kNameBytes);
  for (const baton::job::RankSnapshot& rank : job.ranks) {
    FUZZ_REQUIRE(rank.state <= baton::wire::RankState::dead);
    FUZZ_REQUIRE(rank.end_kind <= baton::wire::EndKind::error);
    FUZZ_REQUIRE(rank.seen <= baton::comm::ProcessSeen::silent);
    FUZZ_REQUIRE(is_printable(rank.host) && rank.host.size() <= baton::wire::kNameBytes);
    FUZZ_REQUIRE(rank.activity <= baton::wire::kLastOperation);
    FUZZ_REQUIRE(is_printable(baton::job::describe_end(rank)));
    FUZZ_REQUIRE(is_printable(rank.reason) && rank.reason.size() <= baton::wire::kReasonBytes);
    FUZZ_REQUIRE(baton::job::describe_activity(rank.activity).size() < 100);
    if (rank.wait) {
      FUZZ_REQUIRE(rank.wait->operation > baton::wire::Operation::none);
      FUZZ_REQUIRE(rank.wait->operation <= baton::wire::kLastOperation);
      FUZZ_REQUIRE(rank.wait->comparison <= baton::WaitCmp::le);
      FUZZ_REQUIRE(is_printable(baton::comm::describe(*rank.wait)));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<Line> memory((size + sizeof(Line) - 1) / sizeof(Line));
  if (size != 0) std::memcpy(memory.data(), data, size);
  const std::span<const std::byte> segment(reinterpret_cast<const std::byte*>(memory.data()), size);
  try {
    require_sane(baton::job::describe_control(segment), size);
  } catch (const baton::Error& error) {
    FUZZ_REQUIRE(error.code() == baton::Code::protocol);
  }
  return 0;
}
