#include "api/ballot.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace tutti {

using Json = nlohmann::json;

std::string Ballot::text() const {
  return Json{{"subject", static_cast<int>(subject)}, {"yes", yes}, {"completed", completed}}
      .dump();
}

Ballot Ballot::read(const std::string& text) {
  const Json json = Json::parse(text);
  return {.subject = static_cast<Subject>(json.at("subject").get<int>()),
          .yes = json.at("yes"),
          .completed = json.at("completed")};
}

bool all_say(const Ballots& ballots, Ballot::Subject subject) {
  return std::all_of(ballots.begin(), ballots.end(), [&](const auto& each) {
    const Ballot ballot = Ballot::read(each.second);
    return ballot.subject == subject && ballot.yes;
  });
}

}  // namespace tutti
