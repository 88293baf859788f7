#include "web/facade/explorer.hpp"

#include <algorithm>
#include <array>
#include <exception>

#include <tutti/error.hpp>
#include <tutti/network/generator.hpp>
#include <tutti/network/network_json.hpp>

#include "core/json_value.hpp"
#include "core/quantity.hpp"
#include "topology/limit_ports.hpp"

namespace tutti::web {
namespace {

using Question = Json (*)(Explorer&, const JsonReader&);

struct Entry {
  std::string_view name;
  Question ask;
};

constexpr std::array entries{
    Entry{"catalogue", catalogue}, Entry{"play", play},
    Entry{"story", story},         Entry{"schedule", schedule_text},
    Entry{"cost", cost},           Entry{"detail", detail},
    Entry{"curves", curves},       Entry{"crossing", crossing},
    Entry{"winners", winners},     Entry{"proof", proof},
    Entry{"mutants", mutants},     Entry{"network", underlay},
    Entry{"load", load},           Entry{"simulate", simulated},
    Entry{"order", ring_order},    Entry{"pipeline", pipeline},
};

constexpr std::size_t most_schedules = 48;
constexpr std::size_t most_networks = 8;

std::string failure(std::string_view code, const std::string& message) {
  Json error{{"code", code}, {"message", message}};
  Json whole;
  whole["error"] = std::move(error);
  return json_text(whole, -1, NotUtf8::replace);
}

/// Finds the entry with this key, and moves it to the front; null if there is none.
template <class List, class Key>
typename List::value_type* take_front(List& list, const std::string& key, Key key_of) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& each) { return key_of(each) == key; });
  if (found == list.end()) return nullptr;
  list.splice(list.begin(), list, found);
  return &list.front();
}

/// One maximum flow per rank: about a second for the largest network that is drawn.
std::optional<Optimum> optimum_of(const Network& network) {
  constexpr std::uint64_t most_work = 300'000;
  if (network.rank_count() < 2) return {};
  if (std::uint64_t{network.rank_count()} * network.links.size() > most_work) return {};
  try {
    return optimum(network);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return {};
  }
}

}  // namespace

const Pricer& KeptSchedule::pricer() {
  if (!pricer_) pricer_.emplace(schedule_);
  return *pricer_;
}

Explorer::Explorer() = default;
Explorer::~Explorer() = default;

std::string Explorer::answer(std::string_view question, std::string_view arguments) noexcept {
  try {
    const auto* const found = std::find_if(
        entries.begin(), entries.end(), [&](const Entry& each) { return each.name == question; });
    if (found == entries.end()) {
      return failure("invalid_argument", "there is no question '" + std::string(question) + "'");
    }
    return json_text(found->ask(*this, JsonReader::parse(arguments)));
  } catch (const Error& error) {
    return failure(name(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return failure("unsupported", "out of memory; ask for fewer ranks");
  } catch (const std::exception& error) {
    return failure("internal", error.what());
  }
}

KeptSchedule& Explorer::schedule(const ScheduleInput& input) {
  std::string key = input.key();
  if (auto* kept = take_front(schedules_, key, [](const auto& each) { return each.key(); })) {
    return *kept;
  }
  if (const std::string refusal = input.algorithm->refusal(input.problem); !refusal.empty()) {
    throw Error(ErrorCode::unsupported, refusal);
  }
  if (message_count(input) > most_messages) {
    throw Error(ErrorCode::unsupported,
                std::string(input.algorithm->name) + " on " + std::to_string(input.problem.ranks) +
                    " ranks has " + with_commas(message_count(input)) +
                    " messages, more than a page can hold; ask for fewer ranks");
  }
  schedules_.emplace_front(std::move(key), input.algorithm->schedule(input.problem));
  if (schedules_.size() > most_schedules) schedules_.pop_back();
  return schedules_.front();
}

KeptNetwork& Explorer::network(const std::string& text) {
  if (auto* kept = take_front(networks_, text, [](const auto& each) { return each.key; })) {
    return *kept;
  }
  const bool is_json = text.find_first_not_of(" \n\t") != std::string::npos &&
                       text[text.find_first_not_of(" \n\t")] == '{';
  Network network = is_json ? network_from_json(text) : generate(text);
  constexpr std::size_t most_nodes = 1200;
  if (network.nodes.size() > most_nodes) {
    throw Error(ErrorCode::unsupported, "a network of " + with_commas(network.nodes.size()) +
                                            " nodes is too large to draw; ask for fewer");
  }
  Routes routes(network);
  std::optional<Optimum> best = optimum_of(network);
  const Network limited = limit_ports(network, 1);
  std::optional<Optimum> one_port = limited == network ? best : optimum_of(limited);
  networks_.push_front(KeptNetwork{.key = text,
                                   .network = std::move(network),
                                   .routes = std::move(routes),
                                   .optimum = std::move(best),
                                   .one_port_optimum = std::move(one_port)});
  if (networks_.size() > most_networks) networks_.pop_back();
  return networks_.front();
}

}  // namespace tutti::web
