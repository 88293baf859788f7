#include <array>
#include <charconv>
#include <unordered_map>

#include <tutti/sim/simulation_json.hpp>

#include "core/json_value.hpp"
#include "sim/busiest_links.hpp"

namespace tutti {
namespace {

/// Collects pieces and hands them over in blocks. A tree of values would need ten times the memory
/// of the text.
class Writer {
 public:
  explicit Writer(const TextSink& sink) : sink_(sink) {}

  void text(std::string_view piece) {
    constexpr std::size_t block = 1U << 16;
    buffer_ += piece;
    if (buffer_.size() >= block) flush();
  }
  void number(double value) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  void key(std::string_view name) {
    text(is_first_ ? "{\n \"" : ",\n \"");
    is_first_ = false;
    text(name);
    text("\": ");
  }
  void members(std::string_view given) {
    if (given.empty()) return;
    text("{\n ");
    text(given);
    is_first_ = false;
  }
  /// A list with one item per line.
  template <class Items, class Write>
  void list(const Items& items, const Write& write) {
    std::string_view before = "[\n  ";
    for (const auto& each : items) {
      text(before);
      write(each);
      before = ",\n  ";
    }
    text(items.empty() ? "[]" : "\n ]");
  }
  void end() {
    text("\n}\n");
    flush();
  }

 private:
  void flush() {
    sink_(buffer_);
    buffer_.clear();
  }

  const TextSink& sink_;
  std::string buffer_;
  bool is_first_ = true;
};

Json json_of(const Activity& activity) {
  Json json{{"kind", activity.kind == Activity::Kind::message ? "message" : "sum"},
            {"rank", activity.rank}};
  if (activity.kind == Activity::Kind::message) json["to"] = activity.peer;
  json.update({{"round", activity.round},
               {"bytes", activity.bytes},
               {"begin", activity.begin},
               {"end", activity.end},
               {"alone", activity.alone}});
  return json;
}

void write(Writer& out, const std::vector<Activity>& activities) {
  out.list(activities, [&](const Activity& each) { out.text(json_of(each).dump()); });
}

Json ends_of(const Network& network, LinkId link) {
  return {{"from", network[network[link].from].name}, {"to", network[network[link].to].name}};
}

void write_links(Writer& out, const std::vector<BusyLink>& links, const Network& network) {
  out.list(links, [&](const BusyLink& each) {
    Json json = ends_of(network, each.link);
    json.update(
        {{"bytes", each.use.bytes}, {"busy", each.use.busy}, {"utilisation", each.utilisation}});
    out.text(json_text(json));
  });
}

/// The used share of the bandwidth in each interval. Links that do the same share a row.
void write_series(Writer& out, const std::vector<BusyLink>& links, const Simulation& simulation,
                  const Network& network) {
  const UtilisationSeries& series = simulation.utilisation;
  std::unordered_map<std::uint32_t, std::size_t> rows;
  std::vector<LinkId> first;
  for (const BusyLink& each : links) {
    if (rows.emplace(series.row(each.link), rows.size()).second) first.push_back(each.link);
  }
  out.key("utilisation");
  out.text("{\"interval\": ");
  out.number(series.seconds);
  out.text(", \"rows\": ");
  out.list(first, [&](LinkId link) {
    const double most = network[link].bytes_per_second * series.seconds;
    for (std::size_t i = 0; i < series.intervals(); ++i) {
      out.text(i == 0 ? "[" : ",");
      out.number(series.carried(i, link) / most);
    }
    out.text("]");
  });
  out.text(", \"links\": ");
  out.list(links, [&](const BusyLink& each) {
    Json json = ends_of(network, each.link);
    json["row"] = rows.at(series.row(each.link));
    out.text(json_text(json));
  });
  out.text("}");
}

}  // namespace

void write_json(const Simulation& simulation, const Network& network, const TextSink& sink,
                std::string_view members) {
  Writer out(sink);
  out.members(members);
  const auto member = [&](std::string_view name, const Json& value) {
    out.key(name);
    out.text(json_text(value));
  };
  member("network", network.name);
  member("seconds", simulation.seconds);
  member("messages", simulation.messages);
  member("bytes", simulation.bytes);
  member("by_symmetry", simulation.by_symmetry);
  member("simulated_ranks", simulation.simulated_ranks);
  out.key("finished");
  out.list(simulation.finished, [&](double each) { out.number(each); });
  const auto links = busiest_links(simulation, network, network.links.size());
  out.key("links");
  write_links(out, links, network);
  out.key("critical_path");
  write(out, simulation.critical_path);
  if (simulation.utilisation.intervals() > 0) write_series(out, links, simulation, network);
  if (!simulation.activities.empty()) {
    out.key("activities");
    write(out, simulation.activities);
  }
  out.end();
}

std::string to_json(const Simulation& simulation, const Network& network) {
  std::string text;
  write_json(simulation, network, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace tutti
