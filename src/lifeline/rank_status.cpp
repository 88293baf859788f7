#include "lifeline/rank_status.hpp"

#include "core/json_value.hpp"

namespace tutti {
std::string write(const RankStatus& status) {
  Json earlier = Json::array();
  for (const RankStatus::Made& each : status.earlier) {
    earlier.push_back({{"call", each.call}, {"signature", each.signature}, {"words", each.words}});
  }
  Json waits = Json::array();
  for (const RankStatus::Wait& each : status.waits) {
    waits.push_back({{"rank", each.rank},
                     {"tag", each.tag},
                     {"receives", each.receives},
                     {"blocks", each.blocks}});
  }
  Json left = Json::array();
  for (const auto& [rank, calls] : status.left) {
    left.push_back({{"rank", rank}, {"calls", calls}});
  }
  Json seen = Json::array();
  for (const auto& [rank, text] : status.seen) {
    seen.push_back({{"rank", rank}, {"status", text}});
  }
  const Json json{{"call", status.call},
                  {"words", status.words},
                  {"runs", status.runs},
                  {"seconds", status.seconds},
                  {"about", status.about},
                  {"signature", status.signature},
                  {"asked", status.asked},
                  {"earlier", earlier},
                  {"done", status.done},
                  {"waits", waits},
                  {"left", left},
                  {"seen", seen},
                  {"more_waits", status.has_more_waits}};
  return json_text(json, -1, NotUtf8::replace);
}

RankStatus read_rank_status(const std::string& text) {
  try {
    const JsonReader json = JsonReader::parse(text);
    const std::vector<JsonReader> none;
    RankStatus status;
    status.call = json.value("call", status.call);
    status.words = json.value("words", status.words);
    status.runs = json.value("runs", status.runs);
    status.seconds = json.value("seconds", status.seconds);
    status.about = json.value("about", status.about);
    status.signature = json.value("signature", status.signature);
    status.asked = json.value("asked", status.asked);
    status.done = json.value("done", status.done);
    for (const JsonReader& each : json.value("earlier", none)) {
      status.earlier.push_back({.call = each.at("call").get<std::uint64_t>(),
                                .signature = each.at("signature").get<std::uint32_t>(),
                                .words = each.at("words").get<std::string>()});
    }
    for (const JsonReader& each : json.value("waits", none)) {
      status.waits.push_back({.rank = each.at("rank").get<std::uint32_t>(),
                              .tag = each.at("tag").get<std::uint32_t>(),
                              .receives = each.at("receives").get<bool>(),
                              .blocks = each.at("blocks").get<bool>()});
    }
    status.has_more_waits = json.value("more_waits", status.has_more_waits);
    for (const JsonReader& each : json.value("left", none)) {
      status.left.emplace(each.at("rank").get<std::uint32_t>(),
                          each.at("calls").get<std::uint64_t>());
    }
    for (const JsonReader& each : json.value("seen", none)) {
      status.seen.emplace(each.at("rank").get<std::uint32_t>(),
                          each.at("status").get<std::string>());
    }
    return status;
  } catch (const JsonError&) {
    return {};
  }
}

}  // namespace tutti
