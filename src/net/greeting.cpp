#include "net/greeting.hpp"

#include <charconv>

namespace tutti {
namespace {

std::string before_rank(std::string_view group) {
  return "tutti tcp 1 " + std::string(group) + " ";
}

}  // namespace

std::string tcp_greeting(std::string_view group, std::uint32_t rank) {
  return before_rank(group) + std::to_string(rank);
}

std::optional<std::uint32_t> rank_that_greets(std::string_view greeting, std::string_view group) {
  const std::string before = before_rank(group);
  if (greeting.substr(0, before.size()) != before) return std::nullopt;
  const std::string_view digits = greeting.substr(before.size());
  const char* const end = digits.data() + digits.size();
  std::uint32_t rank = 0;
  const auto [stop, error] = std::from_chars(digits.data(), end, rank);
  if (error != std::errc() || stop != end) return std::nullopt;
  return rank;
}

}  // namespace tutti
