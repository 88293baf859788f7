#include "api/communicator_options.hpp"

#include <algorithm>
#include <set>

#include <tutti/network/network.hpp>

#include "api/settings.hpp"
#include "core/bounded_file.hpp"

namespace tutti {
namespace {

[[noreturn]] void refuse(const std::string& words) {
  throw Error(ErrorCode::invalid_argument, "CommunicatorOptions::" + words);
}

/// Rules of the program take precedence over the existing ones.
void add_rules(const CommunicatorOptions& options, CommunicatorSettings& settings) {
  Rules rules;
  if (!options.algorithm.empty()) {
    note_origin(settings, "CommunicatorOptions::algorithm", options.algorithm);
    rules.add(parse_algorithm_rules(options.algorithm, "CommunicatorOptions::algorithm"));
  }
  if (!options.rules_file.empty()) {
    note_origin(settings, "CommunicatorOptions::rules_file", options.rules_file);
    rules.add(
        parse_rules_file(read_file(options.rules_file, most_settings_bytes), options.rules_file));
  }
  rules.add(settings.rules);
  settings.rules = std::move(rules);
}

std::vector<Rank> places_from(const CommunicatorOptions& options, std::uint32_t ranks) {
  const std::uint32_t known = options.network->rank_count();
  if (options.places.empty()) {
    if (known == ranks) return {};
    refuse("network has " + std::to_string(known) + " ranks, and the communicator " +
           std::to_string(ranks) + ": set `places` to the ranks of the network on which they run");
  }
  const std::set<std::uint32_t> different(options.places.begin(), options.places.end());
  if (options.places.size() != ranks || different.size() != ranks || *different.rbegin() >= known) {
    refuse("places must name " + std::to_string(ranks) +
           " different ranks of the network, which has " + std::to_string(known));
  }
  std::vector<Rank> places;
  for (const std::uint32_t place : options.places) places.emplace_back(place);
  return places;
}

}  // namespace

void apply(const CommunicatorOptions& options, std::uint32_t ranks,
           CommunicatorSettings& settings) {
  constexpr std::chrono::milliseconds for_ever = std::chrono::hours(24 * 365);
  if (options.timeout.count() < 0) refuse("timeout is negative; use zero for the default");
  if (options.timeout.count() > 0) settings.timeout = std::min(options.timeout, for_ever);
  if (!options.places.empty() && !options.network) {
    refuse("places is set without a network: set `network` as well");
  }
  if (options.network) {
    settings.places = places_from(options, ranks);
    settings.network = options.network;
    note_origin(settings, "CommunicatorOptions::network", options.network->name);
  }
  if (!options.shape.empty()) {
    if (options.shape.size() != ranks) {
      refuse("shape is " + to_string(options.shape) + ", which is not a shape of " +
             std::to_string(ranks) + " ranks");
    }
    settings.shape = options.shape;
    note_origin(settings, "CommunicatorOptions::shape", to_string(options.shape));
  }
  if (!options.adopt.empty()) {
    settings.adopt_from = adopt_from("CommunicatorOptions::adopt", options.adopt);
  }
  if (options.threads) settings.threads = *options.threads;
  if (options.while_waiting) settings.while_waiting = options.while_waiting;
  const bool has_rules = !options.algorithm.empty() || !options.rules_file.empty();
  if (has_rules) add_rules(options, settings);
  // Only when needed: computing the digest takes longer than making a communicator.
  if (has_rules || options.network || !options.shape.empty()) note_choices(settings);
}

void apply_to_part(const CommunicatorOptions& options, std::uint32_t ranks,
                   CommunicatorSettings& settings) {
  if (!options.transport.empty() || !options.secret.empty() || !options.interfaces.empty()) {
    refuse(
        "transport, secret and interfaces are for new groups: a communicator made from another "
        "shares its connections");
  }
  apply(options, ranks, settings);
}

CommunicatorSettings settings_of(const CommunicatorOptions& options, std::uint32_t ranks) {
  CommunicatorSettings settings = settings_from_environment(options.secret);
  if (!options.transport.empty()) {
    settings.fabric.transport = transport_from("CommunicatorOptions::transport", options.transport);
  }
  if (!options.interfaces.empty()) settings.fabric.interfaces = options.interfaces;
  apply(options, ranks, settings);
  settings.fabric.start_timeout =
      std::chrono::duration_cast<std::chrono::milliseconds>(settings.timeout);
  return settings;
}

}  // namespace tutti
