#include "render/recording.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include <tutti/error.hpp>

#include "core/json.hpp"

namespace tutti::render {
namespace {

constexpr double microseconds = 1e-6;

/// A process and a thread.
using Place = std::pair<std::int64_t, std::int64_t>;

struct Moment {
  Place place;
  double time = 0;
};

struct Event {
  Place place;
  std::string name;
  std::string kind;
  double begin = 0;
  double end = 0;
};

/// The events as they are in the file.
class Reader {
 public:
  void read(const JsonReader& event) {
    const std::string phase = event.value("ph", "");
    if (phase == "X") {
      const double begin = time_of(event, "ts");
      const double length = time_of(event, "dur");
      if (length < 0) event.at("dur").reject("the duration is negative");
      const std::string name = event.value("name", "");
      const std::string kind = event.value("cat", "");
      events_.push_back({.place = place_of(event),
                         .name = name,
                         .kind = kind.empty() ? name : kind,
                         .begin = begin,
                         .end = begin + length});
    } else if (phase == "s" || phase == "f") {
      Flow& flow = flows_[event.value("cat", "") + "/" + json_text(event.at("id").json())];
      (phase == "s" ? flow.start : flow.finish) =
          Moment{.place = place_of(event), .time = time_of(event, "ts")};
    } else if (phase == "M") {
      const std::string what = event.value("name", "");
      if (what == "thread_name") threads_[place_of(event)] = event.at("args").at("name").string();
      if (what == "process_name")
        processes_[place_of(event).first] = event.at("args").at("name").string();
    }
  }

  [[nodiscard]] Recording recording() const {
    if (events_.empty()) {
      throw Error(ErrorCode::invalid_argument, "the trace has no spans: events with \"ph\": \"X\"");
    }
    std::map<Place, std::size_t> rows;
    double start = events_.front().begin;
    for (const Event& each : events_) {
      rows[each.place] = 0;
      start = std::min(start, each.begin);
    }
    Recording made;
    for (auto& [place, row] : rows) {
      row = made.rows.size();
      made.rows.push_back(name_of(place));
    }
    for (const Event& each : events_) {
      made.spans.push_back({.row = rows.at(each.place),
                            .name = each.name,
                            .kind = each.kind,
                            .begin = each.begin - start,
                            .end = each.end - start});
    }
    for (const auto& [id, flow] : flows_) {
      if (!flow.start || !flow.finish) continue;
      const auto from = rows.find(flow.start->place);
      const auto to = rows.find(flow.finish->place);
      if (from == rows.end() || to == rows.end()) continue;
      made.arrows.push_back({.from_row = from->second,
                             .from = flow.start->time - start,
                             .to_row = to->second,
                             .to = flow.finish->time - start});
    }
    return made;
  }

 private:
  struct Flow {
    std::optional<Moment> start;
    std::optional<Moment> finish;
  };

  static Place place_of(const JsonReader& event) {
    return {event.value<std::int64_t>("pid", 0), event.value<std::int64_t>("tid", 0)};
  }
  static double time_of(const JsonReader& event, const char* key) {
    const auto time = event.at(key).get<double>() * microseconds;
    if (!std::isfinite(time)) event.at(key).reject("this is not a time");
    return time;
  }

  [[nodiscard]] std::string name_of(const Place& place) const {
    if (const auto found = threads_.find(place); found != threads_.end()) return found->second;
    const auto process = processes_.find(place.first);
    const std::string first =
        process == processes_.end() ? std::to_string(place.first) : process->second;
    return first + "/" + std::to_string(place.second);
  }

  std::vector<Event> events_;
  std::map<std::string, Flow> flows_;
  std::map<Place, std::string> threads_;
  std::map<std::int64_t, std::string> processes_;
};

Caption caption_of(const JsonReader& document) {
  Caption caption{.title = "trace"};
  const std::optional<JsonReader> other =
      document.is_object() ? document.find("otherData") : std::nullopt;
  if (!other) return caption;
  caption.title = other->value("title", "trace");
  caption.lines = other->value("notes", caption.lines);
  return caption;
}

}  // namespace

Recording parse_recording(std::string_view text) {
  try {
    const JsonReader document = JsonReader::parse(text);
    const JsonReader events = document.is_array() ? document : document.at("traceEvents");
    Reader reader;
    for (const JsonReader event : events.elements()) reader.read(event);
    Recording recording = reader.recording();
    recording.caption = caption_of(document);
    return recording;
  } catch (const JsonError& error) {
    throw Error(ErrorCode::invalid_argument,
                std::string("the trace cannot be read: ") + error.what());
  }
}

}  // namespace tutti::render
