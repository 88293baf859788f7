#include "api/failure/ballot.hpp"

#include <algorithm>

#include "core/json_value.hpp"

namespace tutti {

std::string Ballot::text() const {
  return json_text({{"subject", static_cast<int>(subject)},
                    {"yes", yes},
                    {"completed", completed},
                    {"retried", retried}});
}

Ballot Ballot::read(const std::string& text) {
  const JsonReader json = JsonReader::parse(text);
  return {.subject = static_cast<Subject>(json.at("subject").get<int>()),
          .yes = json.at("yes").get<bool>(),
          .completed = json.at("completed").get<std::uint64_t>(),
          .retried = json.at("retried").get<std::uint64_t>()};
}

bool all_say(const Ballots& ballots, Ballot::Subject subject) {
  return std::all_of(ballots.begin(), ballots.end(), [&](const auto& each) {
    const Ballot ballot = Ballot::read(each.second);
    return ballot.subject == subject && ballot.yes;
  });
}

Ballots those_in_step(const Ballots& ballots) {
  const auto count_of = [](const std::string& text) { return Ballot::read(text).retried; };
  std::map<std::uint64_t, std::uint32_t> ranks;
  for (const auto& [rank, text] : ballots) ++ranks[count_of(text)];
  std::uint32_t most = 0;
  for (const auto& [count, size] : ranks) most = std::max(most, size);
  const auto first = std::find_if(ballots.begin(), ballots.end(), [&](const auto& each) {
    return ranks.at(count_of(each.second)) == most;
  });
  Ballots chosen;
  for (const auto& each : ballots) {
    if (count_of(each.second) == count_of(first->second)) chosen.insert(each);
  }
  return chosen;
}

}  // namespace tutti
