#include <cmath>

#include <tutti/error.hpp>
#include <tutti/schedule/schedule_hash.hpp>
#include <tutti/version.hpp>

#include "core/json.hpp"
#include "core/whole.hpp"
#include "select/profile.hpp"

namespace tutti {
namespace {

constexpr int format_version = 1;
constexpr std::size_t most_entries = 100'000;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::invalid_argument,
              "this is not a tutti profile: " + why + "; make one with `tutti tune`");
}

double positive(const Json& json, const char* key, bool may_be_zero = false) {
  const auto value = json.at(key).get<double>();
  if (!std::isfinite(value) || value < 0 || (value == 0 && !may_be_zero)) {
    refuse(std::string("\"") + key + "\" is " + json.at(key).dump() +
           ", which is not a valid time");
  }
  return value;
}

template <class T>
T count(const Json& json, const std::string& what) {
  const std::optional<T> value = whole<T>(json);
  if (!value) refuse("\"" + what + "\" is " + json.dump() + ", which is not a valid number");
  return *value;
}

template <class T>
T count_at(const Json& json, const char* key) {
  return count<T>(json.at(key), key);
}

Reach reach_from(const Json& json) {
  return {.pairs = parse_pairs(json.at("pairs").get<std::string>()),
          .crowded = json.at("crowded").get<bool>()};
}

Json to_json(const Model& model) {
  Json list = Json::array();
  for (const Rates& each : model.rates) {
    Json seconds;
    for (std::size_t i = 0; i < Effort::kinds; ++i) {
      seconds[std::string(Effort::names[i])] = each.seconds[i];
    }
    list.push_back({{"up_to", each.up_to}, {"seconds", std::move(seconds)}});
  }
  return list;
}

Model model_from(const Json& list) {
  Model model;
  for (const Json& each : list) {
    Rates rates{.up_to = count_at<std::uint64_t>(each, "up_to")};
    if (!model.rates.empty() && rates.up_to <= model.rates.back().up_to) {
      refuse("the rates of a model are not in order of \"up_to\"");
    }
    for (std::size_t i = 0; i < Effort::kinds; ++i) {
      rates.seconds[i] = positive(each.at("seconds"), std::string(Effort::names[i]).c_str(), true);
    }
    model.rates.push_back(rates);
  }
  if (model.rates.empty()) refuse("a model has no rates");
  return model;
}

using ByCollective = std::array<std::size_t, collective_count>;

Json direct_to_json(const ByCollective& bytes) {
  Json object;
  for (const Collective each : collectives()) {
    object[std::string(name(each))] = bytes[static_cast<std::size_t>(each)];
  }
  return object;
}

ByCollective direct_from(const Json& object) {
  ByCollective bytes{};
  for (const Collective each : collectives()) {
    const std::string key(name(each));
    const auto value = count_at<std::size_t>(object, key.c_str());
    if (value == 0) refuse("\"direct_from\" is 0 for " + key);
    bytes[static_cast<std::size_t>(each)] = value;
  }
  return bytes;
}

Json to_json(const ReachProfile& each) {
  return {{"pairs", name(each.reach.pairs)},
          {"crowded", each.reach.crowded},
          {"ranks", each.ranks},
          {"alpha", each.link.alpha},
          {"beta", each.link.beta},
          {"gamma", each.gamma},
          {"slice_bytes", each.slice_bytes},
          {"direct_from", direct_to_json(each.direct_from)},
          {"model", to_json(each.model)},
          {"rooted_model", to_json(each.rooted_model)}};
}

ReachProfile reach_profile_from(const Json& json) {
  ReachProfile profile{.reach = reach_from(json),
                       .ranks = count_at<std::uint32_t>(json, "ranks"),
                       .link = {.alpha = positive(json, "alpha"), .beta = positive(json, "beta")},
                       .gamma = positive(json, "gamma", true),
                       .slice_bytes = count_at<std::size_t>(json, "slice_bytes"),
                       .direct_from = direct_from(json.at("direct_from")),
                       .model = model_from(json.at("model")),
                       .rooted_model = model_from(json.at("rooted_model"))};
  if (profile.slice_bytes < 1024) refuse("\"slice_bytes\" is below 1024");
  if (profile.ranks < 2) refuse("\"ranks\" is below 2");
  return profile;
}

Json to_json(const Measurement& each) {
  Json points = Json::array();
  for (const Measurement::Point& point : each.points) {
    points.push_back({point.bytes, point.seconds});
  }
  Json json{{"algorithm", each.algorithm}};
  if (each.schedule) json["hash"] = hash_text(each.schedule->hash());
  json.update({{"pairs", name(each.reach.pairs)},
               {"crowded", each.reach.crowded},
               {"ranks", each.ranks},
               {"cores", each.cores},
               {"points", std::move(points)}});
  return json;
}

/// The schedule that was measured. Its content must not have changed since.
ProvedSchedule measured_schedule(const Measurement& measurement, const Json& json,
                                 const std::string& folder) {
  ProvedSchedule schedule = schedule_named(measurement.algorithm, folder);
  const auto measured = json.at("hash").get<std::string>();
  if (hash_text(schedule.hash()) != measured) {
    refuse("'" + measurement.algorithm + "' was measured when its content hash was " + measured +
           ", but now it is " + hash_text(schedule.hash()));
  }
  if (schedule.contract().ranks != measurement.ranks) {
    refuse("'" + measurement.algorithm + "' is for " + std::to_string(schedule.contract().ranks) +
           " ranks, but the measurement is for " + std::to_string(measurement.ranks));
  }
  return schedule;
}

Measurement measurement_from(const Json& json, const std::string& folder) {
  Measurement measurement{.algorithm = json.at("algorithm").get<std::string>(),
                          .reach = reach_from(json),
                          .ranks = count_at<std::uint32_t>(json, "ranks"),
                          .cores = count_at<std::uint32_t>(json, "cores")};
  if (measurement.algorithm.starts_with(file_prefix)) {
    measurement.schedule = measured_schedule(measurement, json, folder);
  }
  static_cast<void>(measurement.method());  // Throws if there is no such algorithm.
  if (measurement.ranks < 2 || measurement.cores < 1) {
    refuse("a measurement of " + measurement.algorithm + " has " +
           std::to_string(measurement.ranks) + " ranks on " + std::to_string(measurement.cores) +
           " cores");
  }
  for (const Json& each : json.at("points")) {
    const Measurement::Point point{.bytes = count<std::uint64_t>(each.at(0), "points"),
                                   .seconds = each.at(1).get<double>()};
    const bool in_order =
        measurement.points.empty() || measurement.points.back().bytes < point.bytes;
    if (!in_order || !std::isfinite(point.seconds) || point.seconds <= 0) {
      refuse("the points of " + measurement.algorithm + " are not valid times sorted by size");
    }
    measurement.points.push_back(point);
  }
  if (measurement.points.empty()) refuse("a measurement of " + measurement.algorithm + " is empty");
  return measurement;
}

}  // namespace

std::string Profile::json() const {
  Json document;
  document["tutti_profile"] = format_version;
  document["version"] = version;
  document["machine"] = machine;
  document["date"] = date;
  document["reaches"] = Json::array();
  for (const ReachProfile& each : reaches) document["reaches"].push_back(to_json(each));
  // One line per algorithm, for readers and for diffs.
  std::string text = document.dump(1);
  text.erase(text.size() - 2);
  text += ",\n \"measurements\": [";
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    text += (i == 0 ? "\n  " : ",\n  ") + to_json(measurements[i]).dump();
  }
  return text + "\n ]\n}\n";
}

Profile Profile::parse(std::string_view text, const std::string& folder) {
  try {
    const Json document = Json::parse(text);
    if (!document.is_object() || !document.contains("tutti_profile")) {
      refuse("it does not begin with {\"tutti_profile\": 1");
    }
    if (count_at<int>(document, "tutti_profile") != format_version) {
      refuse("its format is " + document.at("tutti_profile").dump() + ", but this tutti reads " +
             std::to_string(format_version));
    }
    Profile profile{.machine = document.at("machine").get<std::string>(),
                    .date = document.at("date").get<std::string>()};
    if (document.at("reaches").size() + document.at("measurements").size() > most_entries) {
      refuse("it has too many entries");
    }
    for (const Json& each : document.at("reaches")) {
      profile.reaches.push_back(reach_profile_from(each));
    }
    for (const Json& each : document.at("measurements")) {
      profile.measurements.push_back(measurement_from(each, folder));
    }
    if (profile.reaches.empty()) refuse("\"reaches\" is empty");
    return profile;
  } catch (const JsonError& error) {
    refuse(error.what());
  }
}

std::uint64_t Profile::digest() const {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char each : json()) {
    hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001B3;
  }
  return hash;
}

}  // namespace tutti
