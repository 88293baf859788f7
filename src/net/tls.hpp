#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include <openssl/ssl.h>

namespace tutti {

/// The TLS context of a job: TLS 1.3 with one cipher, and a pre-shared key derived from the secret
/// instead of certificates.
class Tls {
 public:
  /// AES-GCM may encrypt about 2^24.5 full records with one key (RFC 8446, 5.5). 2^22 records are
  /// 64 GiB.
  static constexpr std::uint64_t usual_records_per_key = std::uint64_t{1} << 22;

  /// Requires: `secret` is not empty.
  explicit Tls(std::string_view secret, std::uint64_t records_per_key = usual_records_per_key);
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;
  ~Tls() = default;

  using Session = std::unique_ptr<SSL, void (*)(SSL*)>;
  /// A session that reads and writes through `wire`, which it owns.
  [[nodiscard]] Session open(BIO* wire) const;

  /// Number of records sent before a key update.
  [[nodiscard]] std::uint64_t records_per_key() const { return records_per_key_; }

 private:
  static void free_context(SSL_CTX* context);
  static void free_session(SSL* session);
  static unsigned int introduce(SSL* session, const char* hint, char* identity,
                                unsigned int most_identity, unsigned char* key,
                                unsigned int most_key);
  static unsigned int look_up(SSL* session, const char* identity, unsigned char* key,
                              unsigned int most_key);
  unsigned int copy_key(unsigned char* to, unsigned int most) const;

  std::array<unsigned char, 32> key_{};
  std::uint64_t records_per_key_;
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
};

}  // namespace tutti
