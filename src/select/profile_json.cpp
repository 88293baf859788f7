#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <span>

#include <tutti/error.hpp>
#include <tutti/schedule/schedule_hash.hpp>
#include <tutti/version.hpp>

#include "core/json_value.hpp"
#include "select/profile.hpp"

namespace tutti {
namespace {

constexpr int format_version = 2;
constexpr std::size_t most_entries = 100'000;
constexpr std::uint64_t most_ranks = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t most_bytes = std::numeric_limits<std::size_t>::max();

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::invalid_argument,
              "this is not a tutti profile: " + why + "; make one with `tutti tune`");
}

double time_from(const JsonReader& json, bool may_be_zero = false) {
  const auto value = json.get<double>();
  if (!std::isfinite(value) || value < 0 || (value == 0 && !may_be_zero)) {
    json.reject(json_number(value) + " is not a valid time");
  }
  return value;
}

Reach reach_from(const JsonReader& json) {
  const JsonReader pairs = json.at("pairs");
  return {.pairs = pairs.checked([&] { return parse_pairs(pairs.string()); }),
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

Model model_from(const JsonReader& list) {
  Model model;
  for (const JsonReader each : list.elements()) {
    Rates rates{.up_to = each.at("up_to").get<std::uint64_t>()};
    if (!model.rates.empty() && rates.up_to <= model.rates.back().up_to) {
      list.reject("the rates are not in order of \"up_to\"");
    }
    for (std::size_t i = 0; i < Effort::kinds; ++i) {
      rates.seconds[i] = time_from(each.at("seconds").at(Effort::names[i]), true);
    }
    model.rates.push_back(rates);
  }
  if (model.rates.empty()) list.reject("a model has no rates");
  return model;
}

Json direct_to_json(const BytesByCollective& bytes) {
  Json object;
  for (const Collective each : collectives()) {
    object[std::string(name(each))] = bytes[static_cast<std::size_t>(each)];
  }
  return object;
}

BytesByCollective direct_from(const JsonReader& object) {
  BytesByCollective bytes{};
  for (const Collective each : collectives()) {
    bytes[static_cast<std::size_t>(each)] = object.at(name(each)).whole<std::size_t>(1, most_bytes);
  }
  return bytes;
}

/// Only the collectives that use it.
Json single_copy_to_json(const BytesByCollective& bytes) {
  Json object = Json::object();
  for (const Collective each : collectives()) {
    const std::size_t least = bytes[static_cast<std::size_t>(each)];
    if (least != Thresholds::never) object[std::string(name(each))] = least;
  }
  return object;
}

/// Profiles of older versions do not have it.
BytesByCollective single_copy_from(const JsonReader& json) {
  BytesByCollective bytes = Thresholds{}.single_copy_from;
  const std::optional<JsonReader> object = json.find("single_copy_from");
  if (!object) return bytes;
  for (const Collective each : collectives()) {
    const std::optional<JsonReader> least = object->find(name(each));
    if (least) bytes[static_cast<std::size_t>(each)] = least->whole<std::size_t>(1, most_bytes);
  }
  return bytes;
}

/// Profiles of older versions do not have all of them.
Thresholds thresholds_from(const JsonReader& json) {
  const Thresholds usual = Thresholds::usual(reach_from(json));
  const auto found = [&](const char* name, std::size_t least, std::size_t otherwise) {
    const std::optional<JsonReader> bytes = json.find(name);
    return bytes ? bytes->whole<std::size_t>(least, most_bytes) : otherwise;
  };
  return {.slice_bytes = json.at("slice_bytes").whole<std::size_t>(1024, most_bytes),
          .direct_from = direct_from(json.at("direct_from")),
          .single_copy_from = single_copy_from(json),
          .segment_bytes = found("segment_bytes", 0, usual.segment_bytes),
          .in_order_to = found("in_order_to", 0, usual.in_order_to),
          .part_bytes = found("part_bytes", 4096, usual.part_bytes)};
}

Json to_json(const ReachProfile& each) {
  return {{"pairs", name(each.reach.pairs)},
          {"crowded", each.reach.crowded},
          {"ranks", each.ranks},
          {"alpha", each.link.alpha},
          {"beta", each.link.beta},
          {"gamma", each.gamma},
          {"slice_bytes", each.thresholds.slice_bytes},
          {"direct_from", direct_to_json(each.thresholds.direct_from)},
          {"single_copy_from", single_copy_to_json(each.thresholds.single_copy_from)},
          {"segment_bytes", each.thresholds.segment_bytes},
          {"in_order_to", each.thresholds.in_order_to},
          {"part_bytes", each.thresholds.part_bytes},
          {"model", to_json(each.model)},
          {"rooted_model", to_json(each.rooted_model)}};
}

ReachProfile reach_profile_from(const JsonReader& json) {
  return {.reach = reach_from(json),
          .ranks = json.at("ranks").whole<std::uint32_t>(2, most_ranks),
          .link = {.alpha = time_from(json.at("alpha")), .beta = time_from(json.at("beta"))},
          .gamma = time_from(json.at("gamma"), true),
          .thresholds = thresholds_from(json),
          .model = model_from(json.at("model")),
          .rooted_model = model_from(json.at("rooted_model"))};
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
  std::string text = json_text(head);
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
    text += (&each == &any ? "\n   " : ",\n   ") + json_string(each.algorithm) + ":" +
            json_text(seconds);
  }
  return text + "}}";
}

/// The schedule that was measured. Its content must not have changed since.
ProvedSchedule measured_schedule(const Measurement& measurement, const JsonReader& group,
                                 const std::string& folder) {
  ProvedSchedule schedule = schedule_named(measurement.algorithm, folder);
  const auto measured = group.at("hashes").at(measurement.algorithm).string();
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

std::vector<std::uint64_t> sizes_from(const JsonReader& list) {
  auto sizes = list.get<std::vector<std::uint64_t>>();
  if (std::ranges::adjacent_find(sizes, std::greater_equal()) != sizes.end()) {
    list.reject("the sizes are not sorted");
  }
  return sizes;
}

/// A time that was not measured is null.
std::vector<Measurement::Point> points_from(const JsonReader& seconds,
                                            std::span<const std::uint64_t> sizes) {
  std::vector<Measurement::Point> points;
  if (seconds.size() > sizes.size()) seconds.reject("there are more times than sizes");
  std::size_t i = 0;
  for (const JsonReader each : seconds.elements()) {
    const std::uint64_t bytes = sizes[i++];
    if (each.is_null()) continue;
    points.push_back({.bytes = bytes, .seconds = time_from(each)});
  }
  if (points.empty()) seconds.reject("the measurement is empty");
  return points;
}

void add_group(Profile& profile, const JsonReader& group, const std::string& folder) {
  const Reach reach = reach_from(group);
  const auto ranks = group.at("ranks").whole<std::uint32_t>(2, most_ranks);
  const auto cores = group.at("cores").whole<std::uint32_t>(1, most_ranks);
  const std::vector<std::uint64_t> sizes = sizes_from(group.at("bytes"));
  for (const auto& [algorithm, seconds] : group.at("seconds").members()) {
    Measurement measurement{.algorithm = algorithm, .reach = reach, .ranks = ranks, .cores = cores};
    if (algorithm.starts_with(file_prefix)) {
      measurement.schedule = measured_schedule(measurement, group, folder);
    }
    static_cast<void>(measurement.method());  // Throws if there is no such algorithm.
    measurement.points = points_from(seconds, sizes);
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
  std::string text = json_text(document, 1);
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
    const JsonReader document = JsonReader::parse(text);
    if (!document.is_object() || !document.contains("tutti_profile")) {
      refuse("it does not begin with {\"tutti_profile\": 2");
    }
    const auto format = document.at("tutti_profile").get<int>();
    if (format != format_version) {
      refuse("its format is " + std::to_string(format) + ", but this tutti reads " +
             std::to_string(format_version));
    }
    Profile profile{.machine = document.at("machine").get<std::string>(),
                    .date = document.at("date").get<std::string>()};
    if (document.at("reaches").size() > most_entries) refuse("it has too many entries");
    for (const JsonReader each : document.at("reaches").elements()) {
      profile.reaches.push_back(reach_profile_from(each));
    }
    for (const JsonReader each : document.at("measurements").elements()) {
      add_group(profile, each, folder);
    }
    if (profile.reaches.empty()) document.at("reaches").reject("the list is empty");
    return profile;
  } catch (const JsonError& error) {
    refuse(error.what());
  }
}

}  // namespace tutti
