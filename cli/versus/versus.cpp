#include "cli/versus/versus.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>

#include <tutti/error.hpp>

#include "cli/bench/head.hpp"
#include "cli/bench/limit.hpp"
#include "cli/bench/table.hpp"
#include "cli/console/own_program.hpp"
#include "cli/console/progress.hpp"
#include "cli/console/text.hpp"
#include "cli/versus/followers.hpp"
#include "cli/versus/pool.hpp"
#include "core/json.hpp"
#include "core/quantity.hpp"
#include "core/system_reason.hpp"

namespace tutti::cli {
namespace {

/// Enough for a median where a call takes long.
constexpr std::size_t least_iterations = 5;
/// A turn beyond so many seconds and so many times what was asked for is too long for those who
/// take so many times as long as tutti.
constexpr double too_long = 0.5;
constexpr double hopeless_turns = 5;
constexpr double hopeless_ratio = 10;

void print(std::FILE* to, const std::string& text) {
  std::fputs(text.c_str(), to);
  if (std::fflush(to) == 0) return;
  if (errno == EPIPE) throw Interrupted(SIGPIPE);
  throw Error(ErrorCode::invalid_argument, "cannot write the table: " + system_reason(errno));
}

/// Where the peers' programs are: as told, or where they are built with the command.
std::string peers_folder(const VersusWishes& wishes) {
  if (!wishes.folder.empty()) return wishes.folder;
  const char* const told = std::getenv("TUTTI_PEERS");
  if (told != nullptr && *told != '\0') return told;
  return (std::filesystem::path(own_program()).parent_path() / "bench" / "peers").string();
}

std::vector<Contender> own_contenders(const BenchPlan& plan, bool tcp) {
  std::vector<Contender> found;
  for (const BenchCase& each : plan.cases) {
    Contender one{.library = "tutti"};
    if (!each.algorithm.empty()) one.words.push_back(each.algorithm);
    if (plan.memory == BenchMemory::Kind::private_to_process) one.words.emplace_back("private");
    if (std::find(found.begin(), found.end(), one) == found.end()) found.push_back(one);
  }
  // Most programs have their data wherever it is.
  if (!tcp && plan.memory == BenchMemory::Kind::shared) {
    found.push_back({.library = "tutti", .words = {"private"}});
  }
  return found;
}

double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return quantile(numbers, 0.5);
}

/// What a contender has answered, round by round.
struct Answers {
  Contender who{};
  std::vector<Json> each{};
  bool hopeless = false;  ///< Takes so long that another round would change nothing.

  [[nodiscard]] VersusResult result() const {
    const auto over_rounds = [&](const char* key) {
      std::vector<double> numbers;
      for (const Json& answer : each) numbers.push_back(answer.at(key).get<double>());
      return numbers;
    };
    VersusResult made{.who = who, .medians = over_rounds("median_us")};
    BenchTiming& timing = made.finding.timing;
    timing.median = median(made.medians);
    timing.p10 = median(over_rounds("p10_us"));
    timing.p90 = median(over_rounds("p90_us"));
    for (const Json& answer : each) timing.iterations += answer.at("iterations").get<std::size_t>();
    // Checked in the first round alone.
    const Json& first = each.front();
    if (first.at("wrong").is_number()) made.finding.wrong = first.at("wrong").get<std::uint64_t>();
    made.algorithm = first.value("algorithm", "");
    return made;
  }
};

class Versus {
 public:
  Versus(const VersusWishes& wishes, const BenchPlan& plan, std::uint32_t ranks, bool tcp)
      : wishes_(wishes),
        plan_(plan),
        field_{.collective = plan.collective, .ranks = ranks, .tcp = tcp},
        pool_(field_, peers_folder(wishes), Followers::Seconds(wishes.patience)) {
    report_.rounds = wishes.rounds;
    report_.seconds = plan.pace.seconds;
    BenchReport& own = report_.tutti;
    own.collective = plan.collective;
    own.ranks = ranks;
    own.ways = std::to_string(ranks) + " ranks, " + (tcp ? "TCP" : "shared memory");
    own.shared_buffers = plan.memory == BenchMemory::Kind::shared;
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
  /// Those of the plan, once for all algorithms of tutti, which are contenders of their own.
  [[nodiscard]] std::vector<BenchCase> cases() const {
    std::vector<BenchCase> found;
    for (BenchCase each : plan_.cases) {
      each.algorithm.clear();
      each.shape = {};
      if (std::find(found.begin(), found.end(), each) == found.end()) found.push_back(each);
    }
    return found;
  }

  void measure_all() {
    const std::vector<BenchCase> all = cases();
    Progress progress("measuring", all.size() * wishes_.rounds);
    for (const BenchCase& each : all) {
      measure(each, progress);
      progress.hide();
      print(plan_.table, table_row(report_.tutti.rows.back()) +
                             versus_lines(report_.tutti.rows.back(), report_.results.back()));
    }
  }

  /// Starts everybody who can take part.
  void gather() {
    // A word that nobody knows is found before anybody is started.
    std::vector<Contender> others;
    for (const std::string& wish : wishes_.libraries) {
      const std::vector<Contender> found = contenders(wish, field_);
      if (found.empty()) pool_.note(wish, "it has no shared memory; add --transport tcp");
      others.insert(others.end(), found.begin(), found.end());
    }
    for (const Contender& each : own_contenders(plan_, field_.tcp)) pool_.enlist(each);
    if (pool_.contenders().empty()) {
      throw Error(ErrorCode::unsupported,
                  "tutti itself cannot take part in --vs; './dev peers' builds what it needs");
    }
    reference_ = pool_.contenders().front();
    for (const Contender& each : others) pool_.enlist(each);
    const auto& all = pool_.contenders();
    if (std::all_of(all.begin(), all.end(), [](const Contender& c) { return c.is_tutti(); })) {
      throw Error(ErrorCode::unsupported,
                  "none of those that --vs names is left to compare with; './dev peers' installs "
                  "Open MPI, MPICH and Gloo and builds the programs around them");
    }
  }

  void measure_machine_if_asked() {
    if (!plan_.limit || field_.ranks < 2) return;
    std::uint64_t most = 0;
    for (const BenchCase& each : plan_.cases) {
      most = std::max(most, larger_bytes(each, field_.ranks));
    }
    report_.tutti.machine = measure_machine(field_.ranks, most, field_.tcp);
  }

  void print_head() const {
    std::string text = bench_head(plan_, report_.tutti.ways) + "# " +
                       std::to_string(wishes_.rounds) + " rounds, taking turns:";
    for (const Contender& each : pool_.contenders()) text += " " + each.name();
    text += "\n#";
    for (const auto& [library, version] : pool_.versions()) text += " " + library + " " + version;
    text +=
        "\n# 1.50x: takes 1.50 times as long as tutti. 1.50~: rounds do not agree on who is "
        "faster.\n";
    if (report_.tutti.machine) text += machine_text(*report_.tutti.machine);
    print(plan_.table, text + "#\n" + table_head());
  }

  /// Another begins each round.
  void measure(const BenchCase& what, Progress& progress) {
    std::vector<Answers> answers;
    for (const Contender& each : pool_.contenders()) answers.push_back({.who = each});
    for (std::size_t round = 0; round < wishes_.rounds; ++round) {
      for (std::size_t i = 0; i < answers.size(); ++i) {
        take_turn(answers[(round + i) % answers.size()], what);
      }
      progress.advance();
    }
    // Who has failed cannot be compared; the hopeless have had at least one turn.
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

  void take_turn(Answers& answers, const BenchCase& what) {
    if (answers.hopeless) return;
    const auto turn = pool_.turn(answers.who, request(answers.who, what, answers.each.empty()));
    if (!turn) return;
    answers.each.push_back(turn->answer);
    const double time = turn->answer.at("median_us").get<double>();
    if (answers.who == reference_) reference_time_ = time;
    answers.hopeless = turn->seconds > too_long + hopeless_turns * plan_.pace.seconds &&
                       time > hopeless_ratio * reference_time_;
  }

  /// At larger sizes it would only cost the others their time: spinning ranks that outnumber the
  /// cores take a thousand times as long.
  void dismiss_hopeless(const Answers& answers) {
    const VersusResults& last = report_.results.back();
    const double times =
        answers.result().finding.timing.median / last.front().finding.timing.median;
    pool_.dismiss(answers.who, "at size " + format_bytes(report_.tutti.rows.back().bytes) +
                                   " it takes " + fixed(times, 0) +
                                   " times as long as tutti, which is too long for larger ones");
  }

  [[nodiscard]] std::string request(const Contender& who, const BenchCase& what, bool first) const {
    const BenchPace& pace = plan_.pace;
    std::string line = std::string(name(what.collective)) + " " +
                       std::to_string(larger_bytes(what, field_.ranks)) + " " +
                       (pace.iterations ? "0" : std::to_string(pace.seconds)) +
                       " dtype=" + std::string(name(what.dtype)) +
                       " op=" + std::string(name(what.op)) + " root=" + std::to_string(what.root) +
                       " least=" + std::to_string(pace.iterations.value_or(least_iterations));
    if (pace.warm_ups) line += " warm=" + std::to_string(*pace.warm_ups);
    if (pace.barrier) line += " barrier";
    if (who.in_place) line += " in-place";
    const bool checks = first && plan_.check && what.collective != Collective::barrier;
    return checks ? line + " check=" + std::to_string(seed_) : line;
  }

  void record(const BenchCase& what, const std::vector<Answers>& answers) {
    VersusResults results;
    for (const Answers& each : answers) results.push_back(each.result());
    if (results.empty() || results.front().who != reference_) {
      throw Error(ErrorCode::peer_lost,
                  "tutti itself has failed; there is nothing to compare with");
    }
    const VersusResult& own = results.front();
    BenchRow row{.what = what,
                 .bytes = larger_bytes(what, field_.ranks),
                 .ranks = field_.ranks,
                 .algorithm = own.algorithm,
                 .out_of_place = own.finding};
    if (report_.tutti.machine) {
      row.limit =
          1e6 * limit_seconds(*report_.tutti.machine, what.collective, field_.ranks, row.bytes);
    }
    report_.tutti.rows.push_back(std::move(row));
    report_.results.push_back(std::move(results));
  }

  const VersusWishes& wishes_;
  const BenchPlan& plan_;
  VersusField field_;
  VersusPool pool_;
  Contender reference_;  // Whom the others are compared with.
  double reference_time_ = 0;
  VersusReport report_;
  std::uint64_t seed_ = std::random_device{}() % 100'000;
};

}  // namespace

void add_versus_options(Command command, VersusWishes& wishes) {
  command
      .option("--vs", wishes.libraries,
              "take turns with openmpi, mpich, gloo, or one setting such as openmpi:ring")
      .text("LIBRARY,...")
      .delimiter(',')
      .one_word();
  command.option("--rounds", wishes.rounds, "turns that each takes, with --vs")
      .text("N (3)")
      .between(std::size_t{1}, std::size_t{1000});
  command.option("--patience", wishes.patience, "seconds that a turn may take, with --vs")
      .text("S (20)")
      .between(0.1, 3600.0);
  command.option("--peers", wishes.folder, "where the programs for --vs are").text("FOLDER");
}

void require_comparable(const BenchPlan& plan) {
  for (const BenchCase& each : plan.cases) {
    if (each.schedule) {
      throw Error(ErrorCode::unsupported,
                  "--vs compares algorithms of the table; measure a --schedule by itself");
    }
    if (each.dtype == DType::bf16 || each.dtype > DType::f64) {
      throw Error(ErrorCode::unsupported, "--vs: the others are not measured with " +
                                              std::string(name(each.dtype)) + "; try -d float");
    }
    if (op_name(each) == "avg") {
      throw Error(ErrorCode::unsupported, "--vs: the others have no avg; try -o sum");
    }
  }
}

VersusReport run_versus(const VersusWishes& wishes, const BenchPlan& plan, std::uint32_t ranks,
                        bool tcp) {
  return Versus(wishes, plan, ranks, tcp).run();
}

}  // namespace tutti::cli
