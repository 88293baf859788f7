#include "topology/rank_list.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <tutti/error.hpp>

#include "core/bounded_file.hpp"
#include "core/nearest.hpp"

namespace tutti {
namespace {

constexpr std::string_view file_prefix = "file:";
constexpr std::string_view between = ", \t\r\n";

/// Names more ranks than any list needs.
constexpr std::uint64_t longest_file = std::uint64_t{64} << 20;

std::optional<std::uint32_t> number_of(std::string_view word) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

std::vector<Rank> parse(std::string_view text, const std::string& what,
                        const std::function<Rank(std::string_view)>& rank_of) {
  std::string of_file;
  if (text.starts_with(file_prefix)) {
    of_file = read_file(std::string(text.substr(file_prefix.size())), longest_file);
    text = of_file;
  }
  std::vector<Rank> ranks;
  std::unordered_set<std::uint32_t> seen;
  for (std::size_t at = text.find_first_not_of(between); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(between, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const Rank rank = rank_of(word);
    if (!seen.insert(rank).second) {
      throw Error(ErrorCode::invalid_argument,
                  what + " names '" + std::string(word) + "' twice; name each rank once");
    }
    ranks.push_back(rank);
    at = text.find_first_not_of(between, end);
  }
  if (ranks.empty()) {
    throw Error(ErrorCode::invalid_argument, what + " names no rank; write, for example, 0,2,1,3");
  }
  return ranks;
}

}  // namespace

std::vector<Rank> parse_rank_list(std::string_view text, const Network& network,
                                  const std::string& what) {
  std::unordered_map<std::string_view, Rank> named;
  for (std::uint32_t r = 0; r < network.rank_count(); ++r) {
    named.emplace(network.node_of(r).name, r);
  }
  return parse(text, what, [&](std::string_view word) {
    if (const auto found = named.find(word); found != named.end()) return found->second;
    const std::optional<std::uint32_t> number = number_of(word);
    if (number && *number < network.rank_count()) return *number;
    std::vector<std::string_view> names;
    constexpr std::uint32_t most_compared = 10'000;
    for (std::uint32_t r = 0; r < std::min(network.rank_count(), most_compared); ++r) {
      names.push_back(network.node_of(r).name);
    }
    throw Error(ErrorCode::invalid_argument, what + ": no rank of " + network.name +
                                                 " is called '" + std::string(word) + "'." +
                                                 did_you_mean(word, names));
  });
}

std::vector<Rank> parse_rank_list(std::string_view text, std::uint32_t ranks,
                                  const std::string& what) {
  return parse(text, what, [&](std::string_view word) {
    const std::optional<std::uint32_t> number = number_of(word);
    if (number && *number < ranks) return *number;
    throw Error(ErrorCode::invalid_argument,
                what + ": '" + std::string(word) + "' is not the number of one of " +
                    std::to_string(ranks) + " ranks, from 0 to " + std::to_string(ranks - 1));
  });
}

}  // namespace tutti
