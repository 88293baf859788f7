#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace tutti {

class Tls;

/// The shared secret of all ranks of a job: TUTTI_SECRET. Empty if none is set.
struct Secret {
  std::string bytes{};
  /// The key for encrypted connections; null if connections are plain.
  std::shared_ptr<const Tls> tls{};

  /// 32 random bytes, as 64 hexadecimal digits.
  [[nodiscard]] static Secret random();
  /// From the values of TUTTI_SECRET and TUTTI_TLS. Throws invalid_argument if `tls` is neither
  /// empty, 0 nor 1, or if it is 1 and `secret` is empty.
  [[nodiscard]] static Secret from_variables(std::string_view secret, std::string_view tls);

  /// The same secret with a TLS key derived from it. Requires: not empty.
  [[nodiscard]] Secret encrypting() const;
};

}  // namespace tutti
