#include "rendezvous/group.hpp"

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include <tutti/error.hpp>

namespace tutti {
namespace {

constexpr std::string_view opening = "tutti rendezvous 1 ";

std::string job_word(const Group& group) { return group.job.empty() ? "-" : group.job; }

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t space = text.find(' ');
    words.push_back(text.substr(0, space));
    if (space == std::string_view::npos) return words;
    text.remove_prefix(space + 1);
  }
}

std::optional<std::uint32_t> number(std::string_view word) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string greeting(const Group& group) {
  for (const char character : group.job) {
    if (character <= ' ' || character > '~') {
      throw Error(ErrorCode::invalid_argument,
                  "the job name '" + group.job +
                      "' has spaces or characters beyond ASCII: use letters, digits and signs");
    }
  }
  std::string text = std::string(opening) + job_word(group) + " " + std::to_string(group.rank) +
                     " " + std::to_string(group.size);
  if (text.size() > Handshake::most_greeting) {
    throw Error(ErrorCode::invalid_argument, "the job name is too long: '" + group.job + "'");
  }
  return text;
}

std::string find_fault(const Group& group, const std::string& greeting, Rank& rank) {
  if (!greeting.starts_with(opening)) return "its greeting is not one of a rendezvous";
  const auto words = words_of(std::string_view(greeting).substr(opening.size()));
  const auto index = words.size() == 3 ? number(words[1]) : std::nullopt;
  const auto size = words.size() == 3 ? number(words[2]) : std::nullopt;
  if (!index || !size) return "its greeting is malformed";
  if (words[0] != job_word(group)) {
    return "it belongs to job " + std::string(words[0]) + ", this is job " + job_word(group);
  }
  if (*size != group.size) {
    return "it claims to be rank " + std::to_string(*index) + " of " + std::to_string(*size) +
           ", but this job has " + std::to_string(group.size) + " ranks";
  }
  if (*index == 0) return "it claims to be rank 0, which is this process: start each rank once";
  if (*index >= group.size) {
    return "it claims to be rank " + std::to_string(*index) + ", but the ranks of this job are " +
           "0 to " + std::to_string(group.size - 1);
  }
  rank = Rank(*index);
  return "";
}

std::string name_ranks(std::span<const std::uint32_t> ranks, std::size_t in_all) {
  if (ranks.size() == 1 && in_all == 1) return "rank " + std::to_string(ranks[0]);
  std::string text = "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const bool last = i + 1 == in_all;
    text += (i == 0 ? "" : last ? " and " : ", ") + std::to_string(ranks[i]);
  }
  return ranks.size() < in_all ? text + ", … (" + std::to_string(in_all) + " in all)" : text;
}

}  // namespace tutti
