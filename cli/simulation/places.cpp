#include "cli/simulation/places.hpp"

#include <algorithm>
#include <charconv>
#include <random>
#include <string_view>

#include <tutti/error.hpp>

#include "topology/rank_list.hpp"

namespace tutti::cli {
namespace {

std::vector<Rank> at_random(std::uint64_t seed, std::uint32_t ranks, const Network& network) {
  std::vector<Rank> places;
  for (std::uint32_t r = 0; r < network.rank_count(); ++r) places.emplace_back(r);
  std::mt19937_64 random(seed);
  for (std::size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random() % i]);
  places.resize(ranks);
  return places;
}

}  // namespace

std::vector<Rank> parse_places(const std::string& text, std::uint32_t ranks,
                               const Network& network) {
  constexpr std::string_view random = "random";
  if (text == "order" || ranks > network.rank_count()) return {};
  if (text == random) return at_random(1, ranks, network);
  if (text.starts_with("random:")) {
    const std::string_view rest = std::string_view(text).substr(random.size() + 1);
    std::uint64_t seed = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), seed);
    if (error != std::errc{} || end != rest.data() + rest.size()) {
      throw Error(ErrorCode::invalid_argument,
                  "'" + text + "' has no seed; write, for example, random:7");
    }
    return at_random(seed, ranks, network);
  }
  std::vector<Rank> places = parse_rank_list(text, network, "--place");
  if (places.size() != ranks) {
    throw Error(ErrorCode::invalid_argument, "--place names " + std::to_string(places.size()) +
                                                 " places for " + std::to_string(ranks) +
                                                 " ranks; give each rank one");
  }
  return places;
}

}  // namespace tutti::cli
