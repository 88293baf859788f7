#include <cmath>

#include <tutti/dtype.hpp>
#include <tutti/network/pair_times.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/op.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/shape.hpp>

#include "core/quantity.hpp"
#include "fuzz/finding.hpp"
#include "fuzz/target.hpp"
#include "net/socket.hpp"
#include "rendezvous/environment.hpp"
#include "select/reach.hpp"

namespace tutti::test {
namespace {

/// Larger values may be rounded up to infinity when written.
constexpr double largest = 1e300;

void read_size(std::string_view text) {
  if (const auto bytes = attempt([&] { return parse_bytes(text); })) {
    require(parse_bytes(format_bytes(*bytes)) == *bytes, "a size does not round-trip");
  }
}

void read_time(std::string_view text) {
  const auto seconds = attempt([&] { return parse_seconds(text); });
  if (!seconds) return;
  require(std::isfinite(*seconds) && *seconds >= 0, "a time is not valid");
  const std::string written = format_seconds(*seconds);
  if (*seconds > largest) return;
  // Times are written with three digits, down to hundredths of a nanosecond.
  require(std::abs(parse_seconds(written) - *seconds) <= *seconds * 0.006 + 0.006e-9,
          "a time does not round-trip: " + written);
}

void read_rate(std::string_view text) {
  if (const auto inverse = attempt([&] { return parse_seconds_per_byte(text); })) {
    require(std::isfinite(*inverse) && *inverse >= 0, "a time per byte is not valid");
  }
  const auto rate = attempt([&] { return parse_rate(text); });
  if (!rate) return;
  require(std::isfinite(*rate) && *rate > 0, "a rate is not valid");
  const std::string written = format_rate(*rate);
  if (*rate > largest || *rate < 1 / largest) return;
  require(std::abs(parse_rate(written) - *rate) <= *rate * 0.0006,
          "a rate does not round-trip: " + written);
}

void read_addresses(std::string_view text) {
  if (const auto endpoint = attempt([&] { return Endpoint::parse(text); })) {
    require(Endpoint::parse(endpoint->text()).text() == endpoint->text(),
            "an address does not round-trip");
    require(endpoint->family() == AF_UNIX || text.ends_with(std::to_string(endpoint->port())) ||
                text.find(":0") != text.npos,
            "an address has another port");
  }
  if (const auto ports = attempt([&] { return PortRange::parse(text); })) {
    require(ports->first <= ports->last && (ports->first > 0 || ports->last == 0),
            "a range of ports is not valid");
  }
  const auto host = attempt([&] { return first_host(text); });
  require(!host || !host->empty(), "a host has no name");
}

void read_shape(std::string_view text) {
  if (const auto shape = attempt([&] { return parse_shape(text); })) {
    require(parse_shape(to_string(*shape)) == *shape, "a shape does not round-trip");
  }
}

/// Requires parse() to accept only the text of name().
template <class F>
void read_name(std::string_view text, F parse) {
  if (const auto value = attempt([&] { return parse(text); })) {
    require(name(*value) == text, "a name is parsed as another value");
  }
}

/// Collectives and algorithms have several names. The one that is printed stands for itself.
void read_names_with_spellings(std::string_view text) {
  if (const auto value = attempt([&] { return parse_collective(text); })) {
    require(parse_collective(name(*value)) == *value, "a collective does not round-trip");
  }
  const auto found = attempt([&] { return &algorithm(text); });
  if (!found) return;
  require(&algorithm((*found)->name) == *found, "an algorithm does not round-trip");
  const auto collective = attempt([&] { return parse_collective(text.substr(0, text.find('/'))); });
  require(!collective || *collective == (*found)->collective,
          "a name finds an algorithm of another collective");
}

void read_names(std::string_view text) {
  read_names_with_spellings(text);
  read_name(text, parse_op);
  read_name(text, parse_dtype);
  read_name(text, parse_pairs);
  read_name(text, parse_route_policy);
}

void read_matrix(std::string_view text) {
  const auto times = attempt([&] { return pair_times_from_csv(text, "", 1000); },
                             {ErrorCode::invalid_argument, ErrorCode::unsupported});
  if (!times) return;
  for (std::uint32_t a = 0; a < times->ranks(); ++a) {
    for (std::uint32_t b = 0; b < times->ranks(); ++b) {
      require(std::isfinite((*times)(a, b)), "a time between two ranks is not finite");
    }
  }
}

}  // namespace

void try_words(std::string_view input) {
  read_size(input);
  read_time(input);
  read_rate(input);
  read_addresses(input);
  read_shape(input);
  read_names(input);
  read_matrix(input);
}

}  // namespace tutti::test
