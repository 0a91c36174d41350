// A channel that only those who know the job's token can open: TLS 1.3 with that token as the pre-shared key.
//
// There are no certificates, and nothing but the key is accepted in their place. Keys are fresh for each connection
// (psk_dhe_ke), so what was recorded can neither be replayed nor, once the token is known, be read.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "base/unique_fd.hpp"
#include "job/hosts/channel.hpp"

namespace baton::job {

/// The secret of one job: 256 random bits. Never on a command line; in an environment only where the user put it.
using JobToken = std::array<unsigned char, 32>;
[[nodiscard]] JobToken make_job_token();
[[nodiscard]] std::string to_hex(const JobToken& token);
[[nodiscard]] std::optional<JobToken> token_from_hex(std::string_view text);
/// The token of `job` alone, for jobs that were given the same one. Throws Error (unsupported) where there is no
/// OpenSSL.
[[nodiscard]] JobToken token_of_job(const JobToken& given, std::string_view job);

/// Why connections to other hosts are not possible in this build; nothing if they are.
[[nodiscard]] std::optional<std::string> tls_missing();
/// "OpenSSL 3.0.11 19 Sep 2023".
[[nodiscard]] std::string tls_library();

enum class TlsRole : std::uint8_t { launcher, agent };

/// Before the handshake is done, read() and write() are not called.
class TlsChannel : public Channel {
 public:
  /// `done` when the other end has proved that it knows the token. Otherwise wait for what wants_write() says, and call
  /// again.
  [[nodiscard]] virtual Transfer handshake() = 0;
  [[nodiscard]] virtual bool wants_write() const noexcept = 0;
};

/// Takes over a connected socket that does not block. `token` is copied. Throws Error (unsupported) where there is no
/// OpenSSL.
[[nodiscard]] std::unique_ptr<TlsChannel> make_tls_channel(UniqueFd socket, const JobToken& token, TlsRole role);

}  // namespace baton::job
