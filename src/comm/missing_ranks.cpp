#include "comm/missing_ranks.hpp"

#include "base/fail.hpp"
#include "comm/wait_record.hpp"

namespace baton::comm {

void throw_missing_ranks(std::string_view job, const std::vector<std::uint32_t>& missing, std::uint32_t size,
                         std::chrono::nanoseconds timeout) {
  constexpr std::size_t kShown = 16;
  const std::vector<std::uint32_t> shown(
      missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(std::min(missing.size(), kShown)));
  const std::string more = missing.size() > kShown ? fmt::format(" and {} more", missing.size() - kShown) : "";
  fail(Code::join_timeout, "rank{} {}{} of {} did not arrive at \"{}\" within {}", missing.size() == 1 ? "" : "s",
       fmt::join(shown, ", "), more, size, job, describe_duration(timeout.count()));
}

}  // namespace baton::comm
