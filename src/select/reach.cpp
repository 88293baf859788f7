#include "select/reach.hpp"

#include <array>

#include <tutti/error.hpp>

#include "core/nearest.hpp"

namespace tutti {
namespace {

constexpr std::array<std::string_view, 4> names{"process", "host", "loopback", "network"};

}  // namespace

std::string_view name(Pairs pairs) { return names[static_cast<std::size_t>(pairs)]; }

Pairs parse_pairs(std::string_view text) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<Pairs>(i);
  }
  throw Error(ErrorCode::invalid_argument, "'" + std::string(text) +
                                               "' is not one of process, host, loopback, network." +
                                               did_you_mean(text, names));
}

std::string words(const Reach& reach) {
  return std::string(name(reach.pairs)) + (reach.crowded ? ", more ranks than cores" : "");
}

}  // namespace tutti
