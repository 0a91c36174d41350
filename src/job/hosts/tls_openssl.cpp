#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/fail.hpp"
#include "job/hosts/tls_channel.hpp"

namespace baton::job {
namespace {

constexpr const char* kIdentity = "baton";

struct FreeContext {
  void operator()(SSL_CTX* context) const noexcept { ::SSL_CTX_free(context); }
};
struct FreeSession {
  void operator()(SSL* session) const noexcept { ::SSL_free(session); }
};

/// The reason of the last refusal, and forgets the others.
std::string last_reason() {
  const unsigned long error = ::ERR_peek_last_error();
  const char* reason = ::ERR_reason_error_string(error);
  ::ERR_clear_error();
  return reason == nullptr ? "no reason given" : reason;
}

unsigned int copy_key(SSL* session, unsigned char* key, unsigned int room) {
  const auto& token = *static_cast<const JobToken*>(SSL_get_app_data(session));
  if (room < token.size()) return 0;
  std::copy(token.begin(), token.end(), key);
  return static_cast<unsigned int>(token.size());
}

unsigned int key_of_agent(SSL* session, const char*, char* identity, unsigned int identity_room, unsigned char* key,
                          unsigned int key_room) {
  if (identity_room <= std::strlen(kIdentity)) return 0;
  std::strcpy(identity, kIdentity);
  return copy_key(session, key, key_room);
}

unsigned int key_of_launcher(SSL* session, const char* identity, unsigned char* key, unsigned int key_room) {
  return identity != nullptr && std::strcmp(identity, kIdentity) == 0 ? copy_key(session, key, key_room) : 0;
}

class OpenSslChannel final : public TlsChannel {
 public:
  OpenSslChannel(UniqueFd socket, const JobToken& token, TlsRole role)
      : socket_(std::move(socket)), token_(token), context_(::SSL_CTX_new(::TLS_method())) {
    if (!context_) refuse();
    SSL_CTX* context = context_.get();
    const bool ready = ::SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
                       // Keys given by callbacks go with SHA-256.
                       ::SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") == 1 &&
                       ::SSL_CTX_set_num_tickets(context, 0) == 1;
    if (!ready) refuse();
    ::SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    ::SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    if (role == TlsRole::agent) {
      // A certificate, should one be offered in place of the key, has nobody to vouch for it.
      ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
      ::SSL_CTX_set_psk_client_callback(context, key_of_agent);
    } else {
      ::SSL_CTX_set_psk_server_callback(context, key_of_launcher);
    }
    session_.reset(::SSL_new(context));
    if (!session_ || ::SSL_set_fd(session_.get(), socket_.get()) != 1) refuse();
    SSL_set_app_data(session_.get(), &token_);
    if (role == TlsRole::agent) {
      ::SSL_set_connect_state(session_.get());
    } else {
      ::SSL_set_accept_state(session_.get());
    }
  }

  ~OpenSslChannel() override {
    if (why_.empty() && established_) ::SSL_shutdown(session_.get());
    ::ERR_clear_error();
  }

  [[nodiscard]] int fd() const noexcept override { return socket_.get(); }
  [[nodiscard]] const std::string& why_closed() const noexcept override { return why_; }
  [[nodiscard]] bool wants_write() const noexcept override { return SSL_want_write(session_.get()) != 0; }

  [[nodiscard]] Transfer handshake() override {
    ::ERR_clear_error();
    const int result = ::SSL_do_handshake(session_.get());
    if (result != 1) return outcome(result);
    // Set if, and only if, the pre-shared key was used.
    established_ = ::SSL_session_reused(session_.get()) == 1;
    if (established_) return {TransferStatus::done};
    why_ = "did not prove that it knows the token of the job";
    return {TransferStatus::closed};
  }

  [[nodiscard]] Transfer read(std::span<char> room) override {
    ::ERR_clear_error();
    std::size_t bytes = 0;
    const int result = ::SSL_read_ex(session_.get(), room.data(), room.size(), &bytes);
    return result == 1 ? Transfer{TransferStatus::done, bytes} : outcome(result);
  }

  [[nodiscard]] Transfer write(std::string_view data) override {
    ::ERR_clear_error();
    std::size_t bytes = 0;
    const int result = ::SSL_write_ex(session_.get(), data.data(), data.size(), &bytes);
    return result == 1 ? Transfer{TransferStatus::done, bytes} : outcome(result);
  }

 private:
  [[noreturn]] static void refuse() { fail(Code::system, "OpenSSL cannot make a connection: {}", last_reason()); }

  Transfer outcome(int result) {
    const int error_number = errno;
    switch (::SSL_get_error(session_.get(), result)) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE: return {TransferStatus::would_block};
      case SSL_ERROR_ZERO_RETURN: why_ = "closed the connection"; break;
      case SSL_ERROR_SYSCALL: why_ = describe_connection_error(error_number); break;
      default: {
        // A process that is killed does not say farewell.
        const bool cut = ERR_GET_REASON(::ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
        const std::string reason = last_reason();
        why_ = cut && established_ ? "closed the connection"
               : established_      ? fmt::format("sent what is not TLS: {}", reason)
                                   : fmt::format("did not prove that it knows the token of the job: {}", reason);
      }
    }
    return {TransferStatus::closed};
  }

  UniqueFd socket_;
  JobToken token_;
  bool established_ = false;
  std::unique_ptr<SSL_CTX, FreeContext> context_;
  std::unique_ptr<SSL, FreeSession> session_;
  std::string why_;
};

}  // namespace

std::optional<std::string> tls_missing() { return std::nullopt; }

std::string tls_library() { return ::OpenSSL_version(OPENSSL_VERSION); }

JobToken token_of_job(const JobToken& given, std::string_view job) {
  JobToken token;
  unsigned int length = 0;
  static_assert(sizeof(JobToken) == 32, "as long as a hash of SHA-256");
  if (::HMAC(::EVP_sha256(), given.data(), static_cast<int>(given.size()),
             reinterpret_cast<const unsigned char*>(job.data()), job.size(), token.data(), &length) == nullptr ||
      length != token.size()) {
    fail(Code::system, "OpenSSL cannot make a token: {}", last_reason());
  }
  return token;
}

std::unique_ptr<TlsChannel> make_tls_channel(UniqueFd socket, const JobToken& token, TlsRole role) {
  return std::make_unique<OpenSslChannel>(std::move(socket), token, role);
}

}  // namespace baton::job
