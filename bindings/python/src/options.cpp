#include "options.hpp"

#include <string>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tutti/network/network_file.hpp>

#include "arguments.hpp"
#include "errors.hpp"
#include "group.hpp"
#include "networks.hpp"

namespace tutti::python {
namespace {

std::string text_of(nb::handle value, const std::string& key) {
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  throw WrongType("option " + key + " must be a str");
}

Threads threads_of(const std::string& text) {
  if (text == "single") return Threads::single;
  if (text == "multiple") return Threads::multiple;
  refuse("option threads is '" + text + "': use 'single' or 'multiple'");
}

}  // namespace

CommunicatorOptions options_of(const nb::dict& given) {
  CommunicatorOptions options;
  for (const auto& [name, value] : given) {
    if (value.is_none()) continue;
    const std::string key = nb::cast<std::string>(name);
    if (key == "timeout") {
      options.timeout = std::chrono::milliseconds(milliseconds_of(value, "option timeout"));
    } else if (key == "algorithm") {
      options.algorithm = text_of(value, key);
    } else if (key == "rules_file") {
      options.rules_file = text_of(value, key);
    } else if (key == "network") {
      options.network = std::make_shared<const Network>(network_of(value));
    } else if (key == "places") {
      options.places = nb::cast<std::vector<std::uint32_t>>(value);
    } else if (key == "shape") {
      options.shape = parse_shape(text_of(value, key));
    } else if (key == "threads") {
      options.threads = threads_of(text_of(value, key));
    } else if (key == "adopt") {
      options.adopt = text_of(value, key);
    } else if (key == "transport") {
      options.transport = text_of(value, key);
    } else if (key == "secret") {
      options.secret = text_of(value, key);
    } else if (key == "interfaces") {
      options.interfaces = text_of(value, key);
    } else {
      throw WrongType(
          "there is no option '" + key +
          "': there are timeout, algorithm, rules_file, network, places, shape, threads, "
          "adopt, transport, secret and interfaces");
    }
  }
  return with_signals(std::move(options));
}

}  // namespace tutti::python
