#include "core/random_bytes.hpp"

#include <sys/random.h>

#include <cerrno>
#include <string_view>
#include <vector>

#include <tutti/error.hpp>

#include "core/system_reason.hpp"

namespace tutti {

// Not RAND_bytes of libcrypto: its generator takes a millisecond to set up, in every process.
void fill_at_random(std::span<std::byte> to) {
  while (!to.empty()) {
    const ssize_t got = getrandom(to.data(), to.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw Error(ErrorCode::internal,
                  "cannot get random numbers from the system: " + system_reason(errno));
    }
    to = to.subspan(static_cast<std::size_t>(got));
  }
}

std::string random_hex(std::size_t bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::vector<std::byte> random(bytes);
  fill_at_random(random);
  std::string text;
  for (const std::byte each : random) {
    text += digits[std::to_integer<unsigned>(each) >> 4U];
    text += digits[std::to_integer<unsigned>(each) & 15U];
  }
  return text;
}

}  // namespace tutti
