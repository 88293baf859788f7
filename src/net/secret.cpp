#include "net/secret.hpp"

#include <array>
#include <cstddef>

#include <openssl/rand.h>

#include <tutti/error.hpp>

#include "net/crypto_use.hpp"
#include "net/tls.hpp"

namespace tutti {

Secret Secret::random() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<unsigned char, 32> bytes{};
  const CryptoUse use;
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    throw Error(ErrorCode::internal, "cannot get random numbers from the system");
  }
  Secret secret;
  for (const unsigned char byte : bytes) {
    secret.bytes += digits[byte >> 4U];
    secret.bytes += digits[byte & 15U];
  }
  return secret;
}

Secret Secret::from_variables(std::string_view secret, std::string_view tls) {
  Secret plain{.bytes = std::string(secret)};
  if (tls.empty() || tls == "0") return plain;
  if (tls != "1") {
    throw Error(ErrorCode::invalid_argument, "TUTTI_TLS is \"" + std::string(tls) +
                                                 "\"; set it to 1 to encrypt connections, or to 0");
  }
  if (secret.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "TUTTI_TLS=1 needs TUTTI_SECRET, which is not set: set it to the same long random "
                "text for all ranks, or start them with tutti run");
  }
  return plain.encrypting();
}

Secret Secret::encrypting() const {
  return {.bytes = bytes, .tls = std::make_shared<const Tls>(bytes)};
}

}  // namespace tutti
