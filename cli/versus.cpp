#include "versus.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>

#include <nlohmann/json.hpp>

#include <tutti/error.hpp>

#include "bench_head.hpp"
#include "bench_limit.hpp"
#include "bench_table.hpp"
#include "core/quantity.hpp"
#include "progress.hpp"
#include "versus_followers.hpp"

namespace tutti::cli {
namespace {

using Json = nlohmann::json;

/// Enough for a median where a call takes long.
constexpr std::size_t least_iterations = 5;

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  if (std::fflush(stdout) != 0) throw Interrupted(SIGPIPE);
}

void say(const std::string& text) { std::fprintf(stderr, "tutti bench: %s\n", text.c_str()); }

/// Where the peers' programs are: as told, or where they are built with the command.
std::string peers_folder(const VersusWishes& wishes) {
  if (!wishes.folder.empty()) return wishes.folder;
  const char* const told = std::getenv("TUTTI_PEERS");
  if (told != nullptr && *told != '\0') return told;
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "bench" / "peers")
      .string();
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
        folder_(peers_folder(wishes)) {
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
      print(table_foot(report_.tutti) + table_details(report_.tutti));
    } catch (const Interrupted& interrupted) {
      report_.interrupted = interrupted.signal();
    }
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
      print(table_row(report_.tutti.rows.back()) +
            versus_lines(report_.tutti.rows.back(), report_.results.back()));
    }
  }

  /// Starts everybody; those that cannot take part are named.
  void gather() {
    for (const Contender& each : own_contenders(plan_, field_.tcp)) enlist(each);
    if (contenders_.empty() || !contenders_.front().is_tutti()) {
      throw Error(ErrorCode::unsupported,
                  "tutti itself cannot take part in --vs; ./dev peers "
                  "builds the programs that it needs");
    }
    for (const std::string& wish : wishes_.libraries) {
      const std::vector<Contender> found = contenders(wish, field_);
      if (found.empty()) {
        drop_out(wish, "it has no shared memory; add --transport tcp");
      }
      for (const Contender& each : found) enlist(each);
    }
    const bool alone = std::all_of(contenders_.begin(), contenders_.end(),
                                   [](const Contender& each) { return each.is_tutti(); });
    if (alone) {
      throw Error(ErrorCode::unsupported,
                  "none of those that --vs names is left to compare with; './dev peers' installs "
                  "Open MPI, MPICH and Gloo and builds the programs around them");
    }
  }

  /// Starts the contender's process, if it has none yet, and waits until its ranks are there.
  void enlist(const Contender& contender) {
    const std::string process = contender.process();
    if (failed_.contains(process)) return;
    try {
      if (!processes_.contains(process)) start(contender);
      contenders_.push_back(contender);
    } catch (const Error& error) {
      failed_.insert(process);
      drop_out(process, error.what());
    }
  }

  void start(const Contender& contender) {
    const std::string program = folder_ + "/" + contender.library;
    if (::access(program.c_str(), X_OK) != 0) {
      throw Error(ErrorCode::unsupported, "there is no program " + program +
                                              "; './dev peers' installs what it needs and builds "
                                              "it, --peers says where else to look");
    }
    const Followers::Id id = followers_.start(command_of(contender, field_, folder_));
    try {
      // Whatever it answers, its ranks are there; some settings have no barrier.
      const Json answer = heard(id, "barrier 0 0 least=1");
      followers_.guard_family(id);
      if (answer.contains("version")) report_.versions[contender.library] = answer.at("version");
    } catch (const Error&) {
      followers_.end(id);
      throw;
    }
    processes_[contender.process()] = id;
  }

  /// The answer to a line, be it a refusal.
  [[nodiscard]] Json heard(Followers::Id id, const std::string& line) {
    const std::string answer = followers_.ask(id, line, Followers::Seconds(wishes_.patience));
    Json json = Json::parse(answer, nullptr, false);
    if (!json.is_object() || (!json.contains("error") && !json.contains("median_us"))) {
      throw Error(ErrorCode::peer_lost, "its answer makes no sense: " + answer);
    }
    return json;
  }

  [[nodiscard]] Json ask(Followers::Id id, const std::string& line) {
    Json json = heard(id, line);
    if (json.contains("error")) {
      throw Error(ErrorCode::unsupported, json.at("error").get<std::string>());
    }
    return json;
  }

  void drop_out(const std::string& who, const std::string& why) {
    report_.failures.emplace_back(who, why);
    say(who + ": " + why + "; going on without it");
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
    for (const Contender& each : contenders_) text += " " + each.name();
    text += "\n#";
    for (const auto& [library, version] : report_.versions) text += " " + library + " " + version;
    text +=
        "\n# 1.50x: takes 1.50 times as long as tutti. 1.50~: rounds do not agree on who is "
        "faster.\n";
    if (report_.tutti.machine) text += machine_text(*report_.tutti.machine);
    print(text + "#\n" + table_head());
  }

  /// Another begins each round.
  void measure(const BenchCase& what, Progress& progress) {
    std::vector<Answers> answers;
    for (const Contender& each : contenders_) answers.push_back({.who = each});
    for (std::size_t round = 0; round < wishes_.rounds; ++round) {
      for (std::size_t i = 0; i < answers.size(); ++i) {
        take_turn(answers[(round + i) % answers.size()], what, round == 0);
      }
      progress.advance();
    }
    // Who has not been through all rounds cannot be compared with those who have.
    std::erase_if(answers, [&](const Answers& each) { return each.each.size() < wishes_.rounds; });
    ++seed_;
    record(what, answers);
  }

  void take_turn(Answers& answers, const BenchCase& what, bool first) {
    const std::string process = answers.who.process();
    if (failed_.contains(process) || failed_.contains(answers.who.name())) return;
    try {
      answers.each.push_back(ask(processes_.at(process), request(answers.who, what, first)));
    } catch (const Error& error) {
      const std::string where = "at size " + format_bytes(larger_bytes(what, field_.ranks)) + " ";
      if (error.code() == ErrorCode::unsupported) {
        dismiss(answers.who.name(), error.what());
      } else {
        dismiss(process, where + error.what());
        followers_.end(processes_.at(process));
      }
    }
  }

  /// A contender, or all that share a process.
  void dismiss(const std::string& who, const std::string& why) {
    failed_.insert(who);
    drop_out(who, why);
    std::erase_if(contenders_, [&](const Contender& each) {
      return each.name() == who || each.process() == who;
    });
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
    if (results.empty() || !results.front().who.is_tutti()) {
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
  std::string folder_;
  Followers followers_;
  std::map<std::string, Followers::Id> processes_;
  std::set<std::string> failed_;
  std::vector<Contender> contenders_;
  VersusReport report_;
  std::uint64_t seed_ = std::random_device{}() % 100'000;
};

}  // namespace

void add_versus_options(CLI::App& command, VersusWishes& wishes) {
  command
      .add_option("--vs", wishes.libraries,
                  "take turns with openmpi, mpich, gloo, or one setting such as openmpi:ring")
      ->option_text("LIBRARY,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--rounds", wishes.rounds, "turns that each takes, with --vs")
      ->option_text("N (3)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000}));
  command.add_option("--patience", wishes.patience, "seconds that a turn may take, with --vs")
      ->option_text("S (20)")
      ->check(CLI::Range(0.1, 3600.0));
  command.add_option("--peers", wishes.folder, "where the programs for --vs are")
      ->option_text("FOLDER");
}

void require_comparable(const BenchPlan& plan) {
  for (const BenchCase& each : plan.cases) {
    if (each.dtype == DType::bf16) {
      throw Error(ErrorCode::unsupported, "--vs: the others have no bfloat16; try -d float");
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
