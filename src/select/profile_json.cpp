#include <cmath>
#include <set>
#include <span>

#include <tutti/error.hpp>
#include <tutti/schedule/schedule_hash.hpp>
#include <tutti/version.hpp>

#include "core/json.hpp"
#include "core/whole.hpp"
#include "select/profile.hpp"

namespace tutti {
namespace {

constexpr int format_version = 2;
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

/// Only the collectives that use it.
Json single_copy_to_json(const ByCollective& bytes) {
  Json object = Json::object();
  for (const Collective each : collectives()) {
    const std::size_t least = bytes[static_cast<std::size_t>(each)];
    if (least != no_single_copy) object[std::string(name(each))] = least;
  }
  return object;
}

/// Profiles of older versions do not have it.
ByCollective single_copy_from(const Json& json) {
  ByCollective bytes = usual_single_copy_from();
  if (!json.contains("single_copy_from")) return bytes;
  const Json& object = json.at("single_copy_from");
  for (const Collective each : collectives()) {
    const std::string key(name(each));
    if (!object.contains(key)) continue;
    const auto value = count_at<std::size_t>(object, key.c_str());
    if (value == 0) refuse("\"single_copy_from\" is 0 for " + key);
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
          {"single_copy_from", single_copy_to_json(each.single_copy_from)},
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
                       .single_copy_from = single_copy_from(json),
                       .model = model_from(json.at("model")),
                       .rooted_model = model_from(json.at("rooted_model"))};
  if (profile.slice_bytes < 1024) refuse("\"slice_bytes\" is below 1024");
  if (profile.ranks < 2) refuse("\"ranks\" is below 2");
  return profile;
}

/// Measurements of one collective in the same situation, which share a list of sizes.
using Group = std::span<const Measurement>;

bool is_same_situation(const Measurement& a, const Measurement& b) {
  return a.reach == b.reach && a.ranks == b.ranks && a.cores == b.cores &&
         a.method().collective() == b.method().collective();
}

/// The first group. An algorithm is in it only once.
Group first_group(Group measurements) {
  std::set<std::string_view> names;
  std::size_t size = 0;
  while (size < measurements.size() &&
         is_same_situation(measurements[size], measurements.front()) &&
         names.insert(measurements[size].algorithm).second) {
    ++size;
  }
  return measurements.first(size);
}

/// One line per algorithm, for readers and for diffs.
std::string json_of(Group group) {
  std::set<std::uint64_t> bytes;
  Json hashes;
  for (const Measurement& each : group) {
    for (const Measurement::Point& point : each.points) bytes.insert(point.bytes);
    if (each.schedule) hashes[each.algorithm] = hash_text(each.schedule->hash());
  }
  const Measurement& any = group.front();
  Json head{{"pairs", name(any.reach.pairs)},
            {"crowded", any.reach.crowded},
            {"ranks", any.ranks},
            {"cores", any.cores},
            {"bytes", Json::array()}};
  for (const std::uint64_t size : bytes) head["bytes"].push_back(size);
  if (!hashes.empty()) head["hashes"] = std::move(hashes);
  std::string text = head.dump();
  text.back() = ',';
  text += "\"seconds\":{";
  for (const Measurement& each : group) {
    Json seconds = Json::array();
    auto size = bytes.begin();
    for (const Measurement::Point& point : each.points) {
      for (; *size != point.bytes; ++size) seconds.push_back(nullptr);
      seconds.push_back(point.seconds);
      ++size;
    }
    text +=
        (&each == &any ? "\n   " : ",\n   ") + Json(each.algorithm).dump() + ":" + seconds.dump();
  }
  return text + "}}";
}

/// The schedule that was measured. Its content must not have changed since.
ProvedSchedule measured_schedule(const Measurement& measurement, const Json& group,
                                 const std::string& folder) {
  ProvedSchedule schedule = schedule_named(measurement.algorithm, folder);
  const auto measured = group.at("hashes").at(measurement.algorithm.c_str()).get<std::string>();
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

std::vector<std::uint64_t> sizes_from(const Json& list) {
  std::vector<std::uint64_t> sizes;
  for (const Json& each : list) {
    sizes.push_back(count<std::uint64_t>(each, "bytes"));
    if (sizes.size() > 1 && sizes.back() <= sizes[sizes.size() - 2]) {
      refuse("\"bytes\" is not sorted");
    }
  }
  return sizes;
}

/// A time that was not measured is null.
std::vector<Measurement::Point> points_from(const Json& seconds,
                                            std::span<const std::uint64_t> sizes,
                                            const std::string& algorithm) {
  std::vector<Measurement::Point> points;
  if (seconds.size() > sizes.size()) refuse("there are more times of " + algorithm + " than sizes");
  std::size_t i = 0;
  for (const Json& each : seconds) {
    const std::uint64_t bytes = sizes[i++];
    if (each.is_null()) continue;
    const auto time = each.get<double>();
    if (!std::isfinite(time) || time <= 0) {
      refuse("the times of " + algorithm + " are not valid");
    }
    points.push_back({.bytes = bytes, .seconds = time});
  }
  if (points.empty()) refuse("a measurement of " + algorithm + " is empty");
  return points;
}

void add_group(Profile& profile, const Json& group, const std::string& folder) {
  const Reach reach = reach_from(group);
  const auto ranks = count_at<std::uint32_t>(group, "ranks");
  const auto cores = count_at<std::uint32_t>(group, "cores");
  if (ranks < 2 || cores < 1) {
    refuse("a measurement has " + std::to_string(ranks) + " ranks on " + std::to_string(cores) +
           " cores");
  }
  const std::vector<std::uint64_t> sizes = sizes_from(group.at("bytes"));
  for (const auto& [algorithm, seconds] : group.at("seconds").items()) {
    Measurement measurement{.algorithm = algorithm, .reach = reach, .ranks = ranks, .cores = cores};
    if (algorithm.starts_with(file_prefix)) {
      measurement.schedule = measured_schedule(measurement, group, folder);
    }
    static_cast<void>(measurement.method());  // Throws if there is no such algorithm.
    measurement.points = points_from(seconds, sizes, algorithm);
    profile.measurements.push_back(std::move(measurement));
    if (profile.measurements.size() > most_entries) refuse("it has too many entries");
  }
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
  std::string text = document.dump(1);
  text.erase(text.size() - 2);
  text += ",\n \"measurements\": [";
  for (Group left = measurements; !left.empty();) {
    const Group group = first_group(left);
    text += (left.size() == measurements.size() ? "\n  " : ",\n  ") + json_of(group);
    left = left.subspan(group.size());
  }
  return text + "\n ]\n}\n";
}

Profile Profile::parse(std::string_view text, const std::string& folder) {
  try {
    const Json document = Json::parse(text);
    if (!document.is_object() || !document.contains("tutti_profile")) {
      refuse("it does not begin with {\"tutti_profile\": 2");
    }
    if (count_at<int>(document, "tutti_profile") != format_version) {
      refuse("its format is " + document.at("tutti_profile").dump() + ", but this tutti reads " +
             std::to_string(format_version));
    }
    Profile profile{.machine = document.at("machine").get<std::string>(),
                    .date = document.at("date").get<std::string>()};
    if (document.at("reaches").size() > most_entries) refuse("it has too many entries");
    for (const Json& each : document.at("reaches")) {
      profile.reaches.push_back(reach_profile_from(each));
    }
    for (const Json& each : document.at("measurements")) {
      add_group(profile, each, folder);
    }
    if (profile.reaches.empty()) refuse("\"reaches\" is empty");
    return profile;
  } catch (const JsonError& error) {
    refuse(error.what());
  }
}

}  // namespace tutti
