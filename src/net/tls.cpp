#include "net/tls.hpp"

#include <cstring>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <tutti/error.hpp>

#include "net/crypto_use.hpp"

namespace tutti {
namespace {

constexpr std::string_view label = "tutti 1 tls key ";
constexpr char identity_of_all[] = "tutti";
constexpr const char* cipher = "TLS_AES_128_GCM_SHA256";
/// One system call reads several records.
constexpr std::size_t read_buffer_bytes = std::size_t{64} << 10;

std::array<unsigned char, 32> key_of(std::string_view secret) {
  std::array<unsigned char, 32> key{};
  unsigned int length = 0;
  const CryptoUse use;
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const unsigned char*>(label.data()), label.size(), key.data(),
           &length) == nullptr ||
      length != key.size()) {
    throw Error(ErrorCode::internal, "libcrypto cannot compute HMAC-SHA-256");
  }
  return key;
}

}  // namespace

Tls::Tls(std::string_view secret, std::uint64_t records_per_key)
    : key_(key_of(secret)), records_per_key_(records_per_key), context_(nullptr, &free_context) {
  const CryptoUse use;
  SSL_CTX* const context = SSL_CTX_new(TLS_method());
  context_.reset(context);
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(context, cipher) != 1) {
    throw Error(ErrorCode::internal,
                "libssl does not support TLS 1.3 with AES-128-GCM: unset TUTTI_TLS, or install "
                "another libssl");
  }
  SSL_CTX_set_app_data(context, this);
  SSL_CTX_set_psk_client_callback(context, &Tls::introduce);
  SSL_CTX_set_psk_server_callback(context, &Tls::look_up);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, read_buffer_bytes);
}

void Tls::free_context(SSL_CTX* context) {
  const CryptoUse use;
  SSL_CTX_free(context);
}

void Tls::free_session(SSL* session) {
  const CryptoUse use;
  SSL_free(session);
}

Tls::Session Tls::open(BIO* wire) const {
  const CryptoUse use;
  Session session(SSL_new(context_.get()), &free_session);
  if (!session) throw Error(ErrorCode::internal, "libssl cannot open a session: out of memory?");
  SSL_set_bio(session.get(), wire, wire);
  return session;
}

unsigned int Tls::introduce(SSL* session, const char* /*hint*/, char* identity,
                            unsigned int most_identity, unsigned char* key, unsigned int most_key) {
  if (most_identity < sizeof identity_of_all) return 0;
  std::memcpy(identity, identity_of_all, sizeof identity_of_all);
  const auto* const tls = static_cast<const Tls*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(session)));
  return tls->copy_key(key, most_key);
}

unsigned int Tls::look_up(SSL* session, const char* identity, unsigned char* key,
                          unsigned int most_key) {
  if (std::strcmp(identity, identity_of_all) != 0) return 0;
  const auto* const tls = static_cast<const Tls*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(session)));
  return tls->copy_key(key, most_key);
}

unsigned int Tls::copy_key(unsigned char* to, unsigned int most) const {
  if (most < key_.size()) return 0;
  std::memcpy(to, key_.data(), key_.size());
  return static_cast<unsigned int>(key_.size());
}

}  // namespace tutti
