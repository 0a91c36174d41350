// In place of tls_openssl.cpp where there is no OpenSSL.
#include "base/fail.hpp"
#include "job/hosts/tls_channel.hpp"

namespace baton::job {

std::optional<std::string> tls_missing() {
  return "this build has no OpenSSL: install its headers (Debian: libssl-dev) and build Baton again";
}

std::string tls_library() { return "none"; }

JobToken token_of_job(const JobToken&, std::string_view) { fail(Code::unsupported, "{}", *tls_missing()); }

std::unique_ptr<TlsChannel> make_tls_channel(UniqueFd, const JobToken&, TlsRole) {
  fail(Code::unsupported, "{}", *tls_missing());
}

}  // namespace baton::job
