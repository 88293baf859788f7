#include "net/secret.hpp"

#include <tutti/error.hpp>

#include "core/random_bytes.hpp"
#include "net/tls.hpp"

namespace tutti {

Secret Secret::random() { return {.bytes = random_hex(32)}; }

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
