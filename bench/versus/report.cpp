#include "versus/report.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <sstream>

#include "cli/bench/plot.hpp"
#include "cli/bench/table.hpp"
#include "cli/console/text.hpp"
#include "core/columns.hpp"
#include "core/json_value.hpp"

namespace tutti::cli {
namespace {

constexpr double giga = 1e9;

Json json_of(const measure::Row& row, const VersusResults& all, const VersusResult& one) {
  const measure::Timing& timing = one.finding.timing;
  return {{"name", one.who.name()},
          {"library", name(one.who.library)},
          {"setting", one.who.setting()},
          {"algorithm", one.algorithm},
          {"iterations", timing.iterations},
          {"median_us", timing.median},
          {"p10_us", timing.p10},
          {"p90_us", timing.p90},
          {"medians_us", one.medians},
          {"algbw_GBps", row.algorithm_bandwidth(one.finding) / giga},
          {"busbw_GBps", row.bus_bandwidth(one.finding) / giga},
          {"wrong", one.finding.wrong ? Json(*one.finding.wrong) : Json()},
          {"ratio", ratio(all, one)},
          {"conclusive", is_conclusive(all, one)}};
}

/// "Linux 6.1.0 aarch64"
std::string system_text() {
  utsname about{};
  if (::uname(&about) != 0) return "unknown";
  return std::string(about.sysname) + " " + about.release + " " + about.machine;
}

}  // namespace

double VersusResult::least() const { return *std::min_element(medians.begin(), medians.end()); }
double VersusResult::most() const { return *std::max_element(medians.begin(), medians.end()); }

double ratio(const VersusResults& all, const VersusResult& one) {
  const double own = all.front().finding.timing.median;
  return own > 0 ? one.finding.timing.median / own : 0;
}

bool is_conclusive(const VersusResults& all, const VersusResult& one) {
  const VersusResult& own = all.front();
  if (one.medians.size() > 1 && own.medians.size() > 1) {
    return one.least() > own.most() || own.least() > one.most();
  }
  // A single round has only the spread of its calls.
  const measure::Timing& a = own.finding.timing;
  const measure::Timing& b = one.finding.timing;
  return a.p10 > b.p90 || b.p10 > a.p90;
}

std::vector<const VersusResult*> best_of_each(const VersusResults& all) {
  std::vector<const VersusResult*> best;
  for (const VersusResult& each : all) {
    if (&each == &all.front()) continue;
    const auto same_library =
        std::find_if(best.begin(), best.end(), [&](const VersusResult* other) {
          return !each.who.is_tutti() && other->who.library == each.who.library;
        });
    if (same_library == best.end()) {
      best.push_back(&each);
    } else if (each.finding.timing.median < (*same_library)->finding.timing.median) {
      *same_library = &each;
    }
  }
  return best;
}

std::uint64_t VersusReport::wrong() const {
  std::uint64_t sum = 0;
  for (const VersusResults& all : results) {
    for (const VersusResult& each : all) sum += each.finding.wrong.value_or(0);
  }
  return sum;
}

std::string VersusReport::json() const {
  Json json = Json::parse(tutti.json());
  Json rows = Json::array();
  for (std::size_t i = 0; i < results.size(); ++i) {
    Json list = Json::array();
    for (const VersusResult& each : results[i]) {
      list.push_back(json_of(tutti.rows[i], results[i], each));
    }
    rows.push_back({{"bytes", tutti.rows[i].bytes}, {"results", list}});
  }
  Json left = Json::array();
  for (const auto& [who, why] : failures) left.push_back({{"who", who}, {"why", why}});
  Json peers = Json::object();
  for (const auto& [library, version] : versions) peers[library] = version;
  json["versus"] = {{"system", system_text()}, {"rounds", rounds}, {"seconds", seconds},
                    {"versions", peers},       {"rows", rows},     {"failures", left}};
  return json_text(json, 2) + "\n";
}

std::string VersusReport::csv() const {
  std::ostringstream text;
  text << "collective,ranks,bytes,count,dtype,op,root,library,setting,algorithm,rounds,iterations,"
          "median_us,p10_us,p90_us,algbw_GBps,busbw_GBps,wrong,limit_us,ratio,conclusive\n";
  for (std::size_t i = 0; i < results.size(); ++i) {
    const measure::Row& row = tutti.rows[i];
    for (const VersusResult& each : results[i]) {
      const measure::Timing& timing = each.finding.timing;
      text << name(row.what.collective) << ',' << row.ranks << ',' << row.bytes << ','
           << row.what.count << ',' << name(row.what.dtype) << ',' << op_name(row.what) << ',';
      if (has_root(row.what.collective)) text << row.what.root;
      text << ',' << name(each.who.library) << ',' << each.who.setting() << ',' << each.algorithm
           << ',' << each.medians.size() << ',' << timing.iterations << ',' << timing.median << ','
           << timing.p10 << ',' << timing.p90 << ',' << row.algorithm_bandwidth(each.finding) / giga
           << ',' << row.bus_bandwidth(each.finding) / giga << ',';
      if (each.finding.wrong) text << *each.finding.wrong;
      text << ',';
      if (row.limit) text << *row.limit;
      text << ',' << ratio(results[i], each) << ',' << (is_conclusive(results[i], each) ? 1 : 0)
           << '\n';
    }
  }
  return text.str();
}

std::string plot_of(const VersusReport& report) {
  std::vector<PlottedTime> times;
  for (std::size_t i = 0; i < report.results.size(); ++i) {
    const measure::Row& row = report.tutti.rows[i];
    times.push_back({report.results[i].front().who.name(), row, row.out_of_place.timing});
    for (const VersusResult* each : best_of_each(report.results[i])) {
      const std::string line =
          each->who.is_tutti() ? each->who.name() : std::string(name(each->who.library));
      times.push_back({line, row, each->finding.timing});
    }
  }
  return plot_of(report.tutti, times);
}

std::string versus_lines(const measure::Row& row, const VersusResults& results) {
  const std::size_t columns = width(case_columns(row));
  std::string text;
  for (const VersusResult* each : best_of_each(results)) {
    const std::string mark = is_conclusive(results, *each) ? "x" : "~";
    std::string line = pad_left(
        std::string(name(each->who.library)) + "  " + fixed(ratio(results, *each), 2) + mark,
        columns);
    line[0] = '#';
    text += line + finding_columns(row, each->finding) + "  " + each->who.setting() + "\n";
  }
  return text;
}

}  // namespace tutti::cli
