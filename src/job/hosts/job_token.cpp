#include <sys/random.h>

#include <charconv>

#include <fmt/ranges.h>

#include "base/fail.hpp"
#include "job/hosts/tls_channel.hpp"

namespace baton::job {

JobToken make_job_token() {
  JobToken token;
  // So few bytes always come at once.
  if (::getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size())) fail_system("getrandom");
  return token;
}

std::string to_hex(const JobToken& token) { return fmt::format("{:02x}", fmt::join(token, "")); }

std::optional<JobToken> token_from_hex(std::string_view text) {
  JobToken token;
  if (text.size() != 2 * token.size()) return std::nullopt;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const char* digits = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(digits, digits + 2, token[i], 16);
    if (error != std::errc() || end != digits + 2) return std::nullopt;
  }
  return token;
}

}  // namespace baton::job
