#include "cli/measure/report.hpp"

#include <sstream>

#include <tutti/version.hpp>

#include "core/json_value.hpp"

namespace tutti::measure {
namespace {

constexpr double giga = 1e9;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json json_of(const Row& row, const Finding& finding) {
  const Timing& timing = finding.timing;
  return {{"iterations", timing.iterations},
          {"median_us", timing.median},
          {"p10_us", timing.p10},
          {"p90_us", timing.p90},
          {"mean_us", timing.mean},
          {"wide", timing.is_wide()},
          {"algbw_GBps", row.algorithm_bandwidth(finding) / giga},
          {"busbw_GBps", row.bus_bandwidth(finding) / giga},
          {"wrong", or_null(finding.wrong)}};
}

Json json_of(const Row& row) {
  const Case& what = row.what;
  return {{"bytes", row.bytes},
          {"count", what.count},
          {"dtype", name(what.dtype)},
          {"op", op_name(what)},
          {"root", has_root(what.collective) ? Json(what.root) : Json()},
          {"algorithm", row.algorithm},
          {"limit_us", or_null(row.limit)},
          {"limit_in_place_us", or_null(row.limit_in_place)},
          {"out_of_place", json_of(row, row.out_of_place)},
          {"in_place", row.in_place ? json_of(row, *row.in_place) : Json()}};
}

Json json_of(const Machine::Sum& sum) {
  return {{"sum_GBps", sum.once / giga}, {"sum_everywhere_GBps", sum.everywhere / giga}};
}

Json json_of(const Machine& machine) {
  Json memory = Json::array();
  for (const Machine::Memory& each : machine.memory) {
    memory.push_back({{"bytes", each.bytes},
                      {"copy_GBps", each.copy / giga},
                      {"out_of_place", json_of(each.out_of_place)},
                      {"in_place", json_of(each.in_place)}});
  }
  Json json{{"cores", machine.cores},
            {"flag_us", machine.flag * 1e6},
            {"note_us", machine.note * 1e6},
            {"memory", memory}};
  if (machine.loopback) {
    json["loopback"] = {{"rate_GBps", machine.loopback->rate / giga},
                        {"latency_us", machine.loopback->latency * 1e6}};
  }
  return json;
}

void add_csv(std::ostringstream& text, const Row& row, const Finding& finding, const char* place) {
  const Case& what = row.what;
  const Timing& timing = finding.timing;
  text << name(what.collective) << ',' << row.ranks << ',' << row.bytes << ',' << what.count << ','
       << name(what.dtype) << ',' << op_name(what) << ',';
  if (has_root(what.collective)) text << what.root;
  text << ',' << row.algorithm << ',' << place << ',' << timing.iterations << ',' << timing.median
       << ',' << timing.p10 << ',' << timing.p90 << ',' << row.algorithm_bandwidth(finding) / giga
       << ',' << row.bus_bandwidth(finding) / giga << ',';
  if (finding.wrong) text << *finding.wrong;
  text << ',';
  const std::optional<double>& limit =
      &finding == &row.out_of_place ? row.limit : row.limit_in_place;
  if (limit) text << *limit;
  text << '\n';
}

}  // namespace

std::uint64_t Report::wrong() const {
  std::uint64_t sum = 0;
  for (const Row& row : rows) {
    sum += row.out_of_place.wrong.value_or(0);
    if (row.in_place) sum += row.in_place->wrong.value_or(0);
  }
  return sum;
}

double Report::average_bus_bandwidth() const {
  double sum = 0;
  std::size_t count = 0;
  const auto add = [&](double bandwidth) {
    sum += bandwidth;
    ++count;
  };
  for (const Row& row : rows) {
    add(row.bus_bandwidth(row.out_of_place));
    if (row.in_place) add(row.bus_bandwidth(*row.in_place));
  }
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

std::string Report::json() const {
  Json list = Json::array();
  for (const Row& row : rows) list.push_back(json_of(row));
  const Json json{{"tutti", version},
                  {"collective", name(collective)},
                  {"ranks", ranks},
                  {"transport", transport},
                  {"buffers", shared_buffers ? "shared" : "private"},
                  {"calls", prepared_calls ? "prepared" : "plain"},
                  {"machine", machine ? json_of(*machine) : Json()},
                  {"wrong", wrong()},
                  {"avg_busbw_GBps", average_bus_bandwidth() / giga},
                  {"rows", list}};
  return json_text(json, 2) + "\n";
}

std::string Report::csv() const {
  std::ostringstream text;
  text << "collective,ranks,bytes,count,dtype,op,root,algorithm,place,iterations,median_us,p10_us,"
          "p90_us,algbw_GBps,busbw_GBps,wrong,limit_us\n";
  for (const Row& row : rows) {
    add_csv(text, row, row.out_of_place, "out_of_place");
    if (row.in_place) add_csv(text, row, *row.in_place, "in_place");
  }
  return text.str();
}

}  // namespace tutti::measure
