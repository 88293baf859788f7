#include <algorithm>
#include <charconv>

#include <tutti/error.hpp>
#include <tutti/network/generator.hpp>

#include "core/nearest.hpp"
#include "core/quantity.hpp"
#include "core/reject.hpp"

namespace tutti {
namespace {

// Node and link indices have 32 bits; this limit leaves room for both.
constexpr std::uint32_t most_count = 1 << 24;
constexpr std::size_t most_factors = 8;

std::uint32_t parse_count(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number == 0 ||
      number > most_count) {
    reject("'" + std::string(text) + "' is not a whole number from 1 to " +
           std::to_string(most_count));
  }
  return number;
}

std::vector<std::uint32_t> parse_factors(std::string_view text) {
  std::vector<std::uint32_t> factors;
  std::uint64_t product = 1;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    factors.push_back(parse_count(text.substr(begin, end - begin)));
    product *= factors.back();
    if (product > most_count || factors.size() > most_factors) {
      reject("'" + std::string(text) + "' is too large: at most " + std::to_string(most_factors) +
             " dimensions with a product of " + std::to_string(most_count));
    }
    begin = end + 1;
  }
  return factors;
}

void check_kind(Parameter::Kind kind, std::string_view text) {
  switch (kind) {
    case Parameter::Kind::count:
      (void)parse_count(text);
      return;
    case Parameter::Kind::factors:
      (void)parse_factors(text);
      return;
    case Parameter::Kind::rate:
      (void)parse_rate(text);
      return;
    case Parameter::Kind::time:
      (void)parse_seconds(text);
      return;
  }
}

const Generator& generator_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Generator& each : generators()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  reject("unknown network '" + std::string(name) + "'." + did_you_mean(name, names) +
         " 'tutti topo list' shows all networks; a file name must end in .json or .xml");
}

/// The index of the parameter that "k=8" or a bare "8" sets.
std::size_t parameter_index(const Generator& generator, std::string_view word, std::size_t place) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) {
    if (place == 0) return 0;
    reject("'" + std::string(word) + "' in '" + std::string(generator.name) +
           "' must be a name and a value joined by '='");
  }
  const std::string_view name = word.substr(0, equals);
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < generator.parameters.size(); ++i) {
    if (generator.parameters[i].name == name) return i;
    names.push_back(generator.parameters[i].name);
  }
  std::string known;
  for (const std::string_view each : names) known += " " + std::string(each);
  reject("'" + std::string(generator.name) + "' has no parameter '" + std::string(name) + "'." +
         did_you_mean(name, names) + " It has:" + known);
}

Arguments parse_arguments(const Generator& generator, std::string_view words) {
  std::vector<std::string> texts(generator.parameters.size());
  for (std::size_t begin = 0, place = 0; begin < words.size(); ++place) {
    const std::size_t end = std::min(words.find(',', begin), words.size());
    const std::string_view word = words.substr(begin, end - begin);
    const std::size_t index = parameter_index(generator, word, place);
    const std::string_view value = word.substr(word.find('=') + 1);
    const Parameter& parameter = generator.parameters[index];
    if (!texts[index].empty()) {
      reject("'" + std::string(parameter.name) + "' is given twice");
    }
    try {
      check_kind(parameter.kind, value);
    } catch (const Error& error) {
      reject("parameter '" + std::string(parameter.name) + "' of '" + std::string(generator.name) +
             "': " + error.what());
    }
    texts[index] = value;
    begin = end + 1;
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Parameter& parameter = generator.parameters[i];
    if (!texts[i].empty()) continue;
    if (parameter.otherwise.empty()) {
      reject("'" + std::string(generator.name) + "' needs the parameter '" +
             std::string(parameter.name) + "' (" + std::string(parameter.summary) +
             "): for example " + std::string(generator.example));
    }
    const auto same = std::find_if(
        generator.parameters.begin(), generator.parameters.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const Parameter& each) { return each.name == parameter.otherwise; });
    const auto index = static_cast<std::size_t>(same - generator.parameters.begin());
    texts[i] = index < i ? texts[index] : std::string(parameter.otherwise);
  }
  return {generator.parameters, std::move(texts)};
}

}  // namespace

const std::string& Arguments::text(std::string_view parameter) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].name == parameter) return texts_[i];
  }
  throw Error(ErrorCode::internal, "a generator reads the parameter '" + std::string(parameter) +
                                       "', which it does not declare");
}

std::uint32_t Arguments::count(std::string_view parameter) const {
  return parse_count(text(parameter));
}

std::vector<std::uint32_t> Arguments::factors(std::string_view parameter) const {
  return parse_factors(text(parameter));
}

double Arguments::rate(std::string_view parameter) const { return parse_rate(text(parameter)); }

double Arguments::time(std::string_view parameter) const { return parse_seconds(text(parameter)); }

Network generate(std::string_view spec) {
  const std::size_t colon = std::min(spec.find(':'), spec.size());
  const Generator& generator = generator_named(spec.substr(0, colon));
  const std::string_view words = colon < spec.size() ? spec.substr(colon + 1) : "";
  Network network = generator.build(parse_arguments(generator, words));
  network.name = spec;
  return network;
}

}  // namespace tutti
