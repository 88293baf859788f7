#include "lifeline/participant.hpp"

#include "core/json.hpp"

namespace tutti {

std::string write(const Standing& standing) {
  Json earlier = Json::array();
  for (const Standing::Made& each : standing.earlier) {
    earlier.push_back({{"call", each.call}, {"signature", each.signature}, {"words", each.words}});
  }
  Json waits = Json::array();
  for (const Standing::Wait& each : standing.waits) {
    waits.push_back({{"rank", each.rank}, {"receives", each.receives}});
  }
  return Json{{"call", standing.call},   {"words", standing.words},
              {"runs", standing.runs},   {"seconds", standing.seconds},
              {"about", standing.about}, {"signature", standing.signature},
              {"asked", standing.asked}, {"earlier", earlier},
              {"done", standing.done},   {"waits", waits}}
      .dump(-1, Json::NotUtf8::replace);
}

Standing read_standing(const std::string& text) {
  const Json json = Json::try_parse(text).value_or(nullptr);
  Standing standing;
  if (!json.is_object()) return standing;
  try {
    standing.call = json.value("call", standing.call);
    standing.words = json.value("words", standing.words);
    standing.runs = json.value("runs", standing.runs);
    standing.seconds = json.value("seconds", standing.seconds);
    standing.about = json.value("about", standing.about);
    standing.signature = json.value("signature", standing.signature);
    standing.asked = json.value("asked", standing.asked);
    standing.done = json.value("done", standing.done);
    for (const Json& each : json.value("earlier", Json::array())) {
      standing.earlier.push_back({.call = each.at("call").get<std::uint64_t>(),
                                  .signature = each.at("signature").get<std::uint32_t>(),
                                  .words = each.at("words").get<std::string>()});
    }
    for (const Json& each : json.value("waits", Json::array())) {
      standing.waits.push_back({.rank = each.at("rank").get<std::uint32_t>(),
                                .receives = each.at("receives").get<bool>()});
    }
  } catch (const JsonError&) {
    return {};
  }
  return standing;
}

}  // namespace tutti
