#include "versus/versus.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>

#include <tutti/error.hpp>

#include "cli/bench/head.hpp"
#include "cli/bench/table.hpp"
#include "cli/console/progress.hpp"
#include "cli/console/text.hpp"
#include "cli/measure/limit.hpp"
#include "cli/measure/quantile.hpp"
#include "core/json_value.hpp"
#include "core/quantity.hpp"
#include "core/system_reason.hpp"
#include "versus/command.hpp"
#include "versus/followers.hpp"
#include "versus/pool.hpp"

namespace tutti::cli {
namespace {

using measure::Case;

/// Enough for a median if calls are long.
constexpr std::size_t least_iterations = 5;
/// A contender is hopeless if it takes `hopeless_ratio` times as long as tutti and its turn lasts
/// longer than `too_long` seconds plus `hopeless_turns` times the requested seconds.
constexpr double too_long = 0.5;
constexpr double hopeless_turns = 5;
constexpr double hopeless_ratio = 10;

void print(std::FILE* to, const std::string& text) {
  std::fputs(text.c_str(), to);
  if (std::fflush(to) == 0) return;
  if (errno == EPIPE) throw Interrupted(SIGPIPE);
  throw Error(ErrorCode::invalid_argument, "cannot write the table: " + system_reason(errno));
}

/// The folder of the peers' programs: --peers, TUTTI_PEERS, or where they are built.
std::string peers_folder(const VersusRequest& request) {
  if (!request.folder.empty()) return request.folder;
  const char* const variable = std::getenv("TUTTI_PEERS");
  if (variable != nullptr && *variable != '\0') return variable;
  return (build_folder() / "bench" / "peers").string();
}

std::vector<Contender> own_contenders(const measure::Workload& workload, bool tcp, bool in_place) {
  using Kind = measure::BufferPair::Kind;
  std::vector<Contender> found;
  for (const Case& each : workload.cases) {
    Contender own{.library = Library::tutti, .in_place = in_place};
    if (!each.algorithm.empty()) own.words.push_back(each.algorithm);
    if (workload.memory == Kind::private_to_process) own.words.emplace_back("private");
    if (workload.prepared) own.words.emplace_back("prepared");
    if (std::find(found.begin(), found.end(), own) == found.end()) found.push_back(own);
  }
  // Most programs do not allocate their data with tutti::allocate.
  if (!tcp && workload.memory == Kind::shared) {
    found.push_back({.library = Library::tutti, .words = {"private"}, .in_place = in_place});
  }
  return found;
}

/// The answers of a contender, round by round.
struct Answers {
  Contender who{};
  std::vector<JsonReader> each{};
  bool hopeless = false;  ///< So slow that it gets no further turn.

  [[nodiscard]] VersusResult result() const {
    const auto over_rounds = [&](const char* key) {
      std::vector<double> numbers;
      for (const JsonReader& answer : each) numbers.push_back(answer.at(key).get<double>());
      return numbers;
    };
    VersusResult made{.who = who, .medians = over_rounds("median_us")};
    measure::Timing& timing = made.finding.timing;
    timing.median = measure::median_of(made.medians);
    timing.p10 = measure::median_of(over_rounds("p10_us"));
    timing.p90 = measure::median_of(over_rounds("p90_us"));
    for (const JsonReader& answer : each)
      timing.iterations += answer.at("iterations").get<std::size_t>();
    // Results are checked only in the first round.
    const JsonReader& first = each.front();
    if (first.at("wrong").is_number()) made.finding.wrong = first.at("wrong").get<std::uint64_t>();
    made.algorithm = first.value("algorithm", "");
    return made;
  }
};

class Versus {
 public:
  explicit Versus(const Comparison& comparison)
      : request_(comparison.request),
        plan_(comparison.plan),
        field_{.collective = plan_.workload.collective,
               .ranks = comparison.ranks,
               .tcp = comparison.tcp},
        pool_(field_, peers_folder(request_), Followers::Seconds(request_.patience)) {
    report_.rounds = request_.rounds;
    report_.seconds = plan_.workload.pace.seconds;
    measure::Report& own = report_.tutti;
    own.collective = field_.collective;
    own.ranks = field_.ranks;
    own.transport = std::to_string(own.ranks) + " ranks, " + (field_.tcp ? "TCP" : "shared memory");
    own.prepared_calls = plan_.workload.prepared;
    own.shared_buffers = plan_.workload.memory == measure::BufferPair::Kind::shared;
  }

  VersusReport run() {
    try {
      gather();
      measure_machine_if_asked();
      print_head();
      measure_all();
      print(plan_.table, table_foot(report_.tutti) + table_details(report_.tutti));
    } catch (const Interrupted& interrupted) {
      report_.interrupted = interrupted.signal();
    }
    report_.versions = pool_.versions();
    report_.failures = pool_.failures();
    return std::move(report_);
  }

 private:
  /// The cases of the plan without their algorithms: those are contenders of their own.
  [[nodiscard]] std::vector<Case> cases() const {
    std::vector<Case> found;
    for (Case each : plan_.workload.cases) {
      each.algorithm.clear();
      each.shape = {};
      if (std::find(found.begin(), found.end(), each) == found.end()) found.push_back(each);
    }
    return found;
  }

  void measure_all() {
    const std::vector<Case> all = cases();
    Progress progress("measuring", all.size() * request_.rounds);
    for (const Case& each : all) {
      measure(each, progress);
      progress.hide();
      print(plan_.table, table_row(report_.tutti.rows.back()) +
                             versus_lines(report_.tutti.rows.back(), report_.results.back()));
    }
  }

  /// Starts all contenders that can take part.
  void gather() {
    // Unknown settings are found before any program is started.
    std::vector<Contender> others;
    for (const std::string& text : request_.peers) {
      const PeerWish wish = parse_peer_wish(text);
      const std::vector<Contender> found = contenders(wish, field_);
      if (found.empty())
        pool_.note(wish.text(), "it needs shared memory; leave out --transport tcp");
      for (Contender each : found) {
        each.in_place = each.in_place || request_.in_place;
        if (std::find(others.begin(), others.end(), each) == others.end()) others.push_back(each);
      }
    }
    for (const Contender& each : own_contenders(plan_.workload, field_.tcp, request_.in_place)) {
      pool_.enlist(each);
    }
    if (pool_.contenders().empty()) {
      throw Error(ErrorCode::unsupported,
                  "the program of tutti for --vs is missing or fails; './dev peers' builds it");
    }
    reference_ = pool_.contenders().front();
    for (const Contender& each : others) pool_.enlist(each);
    const auto& all = pool_.contenders();
    if (std::all_of(all.begin(), all.end(), [](const Contender& c) { return c.is_tutti(); })) {
      throw Error(ErrorCode::unsupported,
                  "none of the libraries of --vs is left to compare with; './dev peers' installs "
                  "them and builds the programs around them");
    }
  }

  void measure_machine_if_asked() {
    if (!plan_.workload.limit || field_.ranks < 2) return;
    report_.tutti.machine = measure::measure_machine(
        field_.ranks, plan_.workload.largest_buffer(field_.ranks), field_.tcp);
  }

  void print_head() const {
    std::string text = bench_head(plan_, report_.tutti.transport) + "# " +
                       std::to_string(request_.rounds) + " rounds, in turns:";
    for (const Contender& each : pool_.contenders()) text += " " + each.name();
    text += "\n#";
    for (const auto& [library, version] : pool_.versions()) text += " " + library + " " + version;
    text +=
        "\n# 1.50x: takes 1.50 times as long as tutti. 1.50~: rounds do not agree on which "
        "is faster.\n";
    if (report_.tutti.machine) text += machine_text(*report_.tutti.machine);
    print(plan_.table, text + "#\n" + table_head());
  }

  /// Each round begins with another contender.
  void measure(const Case& what, Progress& progress) {
    std::vector<Answers> answers;
    for (const Contender& each : pool_.contenders()) answers.push_back({.who = each});
    for (std::size_t round = 0; round < request_.rounds; ++round) {
      for (std::size_t i = 0; i < answers.size(); ++i) {
        take_turn(answers[(round + i) % answers.size()], what);
      }
      progress.advance();
    }
    // A contender that failed cannot be compared. A hopeless one has had at least one turn.
    const auto& left = pool_.contenders();
    std::erase_if(answers, [&](const Answers& each) {
      return each.each.empty() || std::find(left.begin(), left.end(), each.who) == left.end();
    });
    ++seed_;
    record(what, answers);
    for (const Answers& each : answers) {
      if (each.hopeless) dismiss_hopeless(each);
    }
  }

  void take_turn(Answers& answers, const Case& what) {
    if (answers.hopeless) return;
    const auto turn = pool_.turn(answers.who, request(answers.who, what, answers.each.empty()));
    if (!turn) return;
    answers.each.push_back(turn->answer);
    const double time = turn->answer.at("median_us").get<double>();
    if (answers.who == reference_) reference_time_ = time;
    answers.hopeless = turn->seconds > too_long + hopeless_turns * plan_.workload.pace.seconds &&
                       time > hopeless_ratio * reference_time_;
  }

  /// At larger sizes it would only cost time: ranks that spin on too few cores take a thousand
  /// times as long.
  void dismiss_hopeless(const Answers& answers) {
    const VersusResults& last = report_.results.back();
    const double times =
        answers.result().finding.timing.median / last.front().finding.timing.median;
    pool_.dismiss(answers.who, "at size " + format_bytes(report_.tutti.rows.back().bytes) +
                                   " it takes " + fixed(times, 0) +
                                   " times as long as tutti, too long for larger sizes");
  }

  [[nodiscard]] std::string request(const Contender& who, const Case& what, bool first) const {
    const measure::Pace& pace = plan_.workload.pace;
    std::string line = std::string(name(what.collective)) + " " +
                       std::to_string(larger_bytes(what, field_.ranks)) + " " +
                       (pace.iterations ? "0" : std::to_string(pace.seconds)) +
                       " dtype=" + std::string(name(what.dtype)) +
                       " op=" + std::string(name(what.op)) + " root=" + std::to_string(what.root) +
                       " least=" + std::to_string(pace.iterations.value_or(least_iterations));
    if (pace.warm_ups) line += " warm=" + std::to_string(*pace.warm_ups);
    if (pace.barrier) line += " barrier";
    if (pace.fresh) line += " fresh";
    if (who.in_place) line += " in-place";
    const bool checks = first && plan_.workload.check && what.collective != Collective::barrier;
    return checks ? line + " check=" + std::to_string(seed_) : line;
  }

  void record(const Case& what, const std::vector<Answers>& answers) {
    VersusResults results;
    for (const Answers& each : answers) results.push_back(each.result());
    if (results.empty() || results.front().who != reference_) {
      throw Error(ErrorCode::peer_lost,
                  "tutti itself has failed, so there is no reference to compare with");
    }
    const VersusResult& own = results.front();
    measure::Row row{.what = what,
                     .bytes = larger_bytes(what, field_.ranks),
                     .ranks = field_.ranks,
                     .algorithm = own.algorithm,
                     .out_of_place = own.finding};
    if (report_.tutti.machine) {
      const measure::Pace& pace = plan_.workload.pace;
      row.limit = 1e6 * measure::limit_seconds(
                            *report_.tutti.machine, what.collective, field_.ranks, row.bytes,
                            {.in_place = own.who.in_place, .barrier = pace.barrier || pace.fresh});
    }
    report_.tutti.rows.push_back(std::move(row));
    report_.results.push_back(std::move(results));
  }

  const VersusRequest& request_;
  const BenchPlan& plan_;
  VersusField field_;
  VersusPool pool_;
  Contender reference_;  // The contender that the others are compared with.
  double reference_time_ = 0;
  VersusReport report_;
  std::uint64_t seed_ = std::random_device{}() % 100'000;
};

/// Throws unsupported if the other libraries cannot do the plan.
void require_comparable(const BenchPlan& plan) {
  for (const Case& each : plan.workload.cases) {
    if (each.schedule) {
      throw Error(ErrorCode::unsupported,
                  "--vs compares algorithms of the table; measure a --schedule without --vs");
    }
    if (each.dtype == DType::bf16 || each.dtype > DType::f64) {
      throw Error(ErrorCode::unsupported, "--vs: the other libraries are not measured with " +
                                              std::string(name(each.dtype)) + "; try -d float");
    }
    if (op_name(each) == "avg") {
      throw Error(ErrorCode::unsupported, "--vs: the other libraries have no avg; try -o sum");
    }
  }
}

}  // namespace

VersusReport run_versus(const Comparison& comparison) {
  require_comparable(comparison.plan);
  return Versus(comparison).run();
}

}  // namespace tutti::cli
