#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace tutti {

class Tls;

/// What all ranks of a job know and nobody else does: TUTTI_SECRET. Empty if there is none.
struct Secret {
  std::string bytes{};
  /// By what connections are encrypted; null if they are not.
  std::shared_ptr<const Tls> tls{};

  /// 32 random bytes, as 64 hexadecimal digits.
  [[nodiscard]] static Secret random();
  /// What TUTTI_SECRET and TUTTI_TLS say. Throws invalid_argument if the latter is neither 0 nor 1,
  /// or if it is 1 and there is no secret.
  [[nodiscard]] static Secret from_variables(std::string_view secret, std::string_view tls);

  /// The same bytes, and a key made of them by which connections are encrypted. Requires: some.
  [[nodiscard]] Secret encrypting() const;
};

}  // namespace tutti
