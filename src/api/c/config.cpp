#include "api/c/config.hpp"

#include <cstddef>

#include <tutti/network/network_file.hpp>

#include "api/c/handles.hpp"
#include "api/c/versioned.hpp"

namespace tutti {
namespace {

std::string text_or_none(const char* text) { return text == nullptr ? std::string() : text; }

std::optional<Threads> threads_from(int threads) {
  switch (threads) {
    case 0:
      return std::nullopt;
    case 1:
      return Threads::single;
    case 2:
      return Threads::multiple;
    default:
      throw Error(ErrorCode::invalid_argument,
                  "config->threads is " + std::to_string(threads) +
                      "; it may be 1 (one thread at a time calls) or 2 (several may)");
  }
}

}  // namespace

CommunicatorOptions options_of(const tuttiConfig_t* config) {
  if (config == nullptr) return {};
  const tuttiConfig_t known =
      known_part(*config, offsetof(tuttiConfig_t, adopt), "config", "TUTTI_CONFIG_INITIALIZER");
  CommunicatorOptions options{.timeout = std::chrono::milliseconds(known.timeout_ms),
                              .algorithm = text_or_none(known.algorithm),
                              .rules_file = text_or_none(known.rules_file),
                              .threads = threads_from(known.threads),
                              .adopt = text_or_none(known.adopt),
                              .transport = text_or_none(known.transport),
                              .secret = text_or_none(known.secret),
                              .interfaces = text_or_none(known.interfaces)};
  if (known.network_file != nullptr) {
    options.network = std::make_shared<const Network>(load_network(known.network_file));
  }
  if (known.places != nullptr) {
    for (std::size_t i = 0; i < known.nplaces; ++i) {
      options.places.push_back(rank_from(known.places[i], "a place"));
    }
  }
  if (known.shape != nullptr) options.shape = parse_shape(known.shape);
  return options;
}

}  // namespace tutti
