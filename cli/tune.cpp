#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include <tutti/error.hpp>

#include "cli/commands.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/options.hpp"
#include "cli/console/own_program.hpp"
#include "cli/console/progress.hpp"
#include "cli/console/text.hpp"
#include "cli/console/text_file.hpp"
#include "cli/launch/again.hpp"
#include "cli/launch/launcher.hpp"
#include "cli/measure/party.hpp"
#include "cli/measure/tuning.hpp"
#include "core/quantity.hpp"
#include "core/reject.hpp"
#include "rendezvous/environment.hpp"

namespace tutti::cli {
namespace {

/// What to measure, as the command line asks for it.
struct Request {
  std::uint32_t ranks = 0;
  std::vector<Pairs> pairs{};
  double seconds = 25;
  std::uint64_t most_bytes = 0;
  std::string output;
  std::vector<measure::NamedSchedule> schedules;
  std::string part;  // Hidden: where a process started by tune leaves its results.
  bool refine = false;
};

/// The words of the command line that are parsed here.
struct Options {
  Request parsed{};
  std::vector<std::string> transports{"inproc", "shm", "tcp"};
  std::string most = "16MiB";
  std::vector<std::string> schedules;
};

constexpr std::uint32_t most_ranks = 1024;
/// How ranks that share cores alternate differs between launches and matters much, so the best
/// algorithms are measured again by this many further launches.
constexpr int refinements = 5;

std::string first_value(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return line.substr(line.find(':') + 2);
  }
  return {};
}

std::string machine_text() {
  std::array<char, 64> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  std::string model = first_value("/proc/cpuinfo", "model name");
  if (model.empty()) model = "CPU part " + first_value("/proc/cpuinfo", "CPU part");
  return std::string(host.data()) + ", " + std::to_string(measure::own_cores()) + " cores, " +
         model;
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text.data();
}

std::string output_path(const Request& request) {
  if (!request.output.empty()) return request.output;
  if (const char* const named = std::getenv("TUTTI_PROFILE"); named != nullptr && *named != '\0') {
    return named;
  }
  std::string usual = default_profile_path();
  if (usual.empty()) reject("where to write the profile? HOME is not set; add -o FILE");
  return usual;
}

/// The profile to merge into: the file, or the built-in profile without the reaches that are now
/// measured.
Profile base_for(const std::string& path, const Profile& found) {
  if (std::filesystem::exists(path)) {
    try {
      return Profile::parse(read_text(path), std::filesystem::path(path).parent_path().string());
    } catch (const Error& error) {
      reject(path + ": " + error.what() + ", or remove that file");
    }
  }
  Profile base = built_in_profile();
  for (const ReachProfile& each : found.reaches) {
    std::erase_if(base.measurements,
                  [&](const Measurement& one) { return one.reach == each.reach; });
  }
  return base;
}

/// The median error of the fitted models.
double median_error(const Profile& profile, const ReachProfile& known) {
  std::vector<double> errors;
  for (const Measurement& each : profile.measurements) {
    if (each.reach != known.reach || each.ranks != known.ranks) continue;
    const Method used = each.method();
    for (const Measurement::Point& point : each.points) {
      const double expected =
          profile.at(known.reach, known.ranks)
              .model_for(used.collective())
              .seconds(effort(used, each.problem(), point.bytes, each.cores), point.bytes);
      errors.push_back(std::abs(expected / point.seconds - 1));
    }
  }
  if (errors.empty()) return 0;
  std::nth_element(errors.begin(), errors.begin() + errors.size() / 2, errors.end());
  return errors[errors.size() / 2];
}

void report(const Profile& profile, const Profile& found, const std::string& path) {
  using Align = TextTable::Align;
  TextTable table({{"between ranks of a", Align::left},
                   {"α", Align::right},
                   {"1/β", Align::right},
                   {"1/γ", Align::right},
                   {"slice", Align::right},
                   {"in place from", Align::right},
                   {"model's error", Align::right}});
  const auto rate = [](double seconds_per_byte) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f GB/s", 1e-9 / seconds_per_byte);
    return std::string(text.data());
  };
  for (const ReachProfile& each : found.reaches) {
    std::array<char, 32> error{};
    std::snprintf(error.data(), error.size(), "%.0f %%", 100 * median_error(profile, each));
    table.add(
        {words(each.reach), format_seconds(each.link.alpha), rate(each.link.beta), rate(each.gamma),
         format_bytes(each.thresholds.slice_bytes),
         in_memory(each.reach)
             ? format_bytes(
                   each.thresholds.direct_from[static_cast<std::size_t>(Collective::allreduce)])
             : "",
         error.data()});
  }
  std::fputs(table.text().c_str(), stdout);
  std::size_t points = 0;
  for (const Measurement& each : found.measurements) points += each.points.size();
  std::printf("\n%zu times of %zu algorithms measured; written to %s\n", points,
              found.measurements.size(), path.c_str());
}

void finish(Profile found, const std::string& path) {
  found.machine = machine_text();
  found.date = now_text();
  // Only these: the built-in profile has models of more measurements than it lists.
  found.fit_models();
  Profile profile = base_for(path, found);
  profile.merge(found);
  save_profile(profile, path);
  report(profile, found, path);
}

/// The part of one rank, however it was started.
void take_part(Communicator& communicator, const Request& request) {
  const Party party = measure::party_of(communicator);
  if (party.ranks < 2) reject("tuning needs at least two ranks; start two or more");
  Progress bar("tuning " + std::string(name(party.reach.pairs)));
  const Profile found = measure::tune(communicator,
                                      {.reach = party.reach,
                                       .cores = party.cores,
                                       .seconds = request.seconds,
                                       .most_bytes = request.most_bytes,
                                       .schedules = request.schedules,
                                       .refine = request.refine},
                                      [&](double share) { bar.set(share); });
  bar.hide();
  if (communicator.rank() != 0) return;
  if (request.part.empty()) {
    finish(found, output_path(request));
  } else {
    write_text(request.part, found.json());
  }
}

/// Starts ranks that all reach each other in the same way. Runs in a process of its own.
int measure_part(const Request& request, std::vector<std::string> words) {
  const Pairs pairs = request.pairs.front();
  if (pairs == Pairs::process) {
    ::unsetenv("TUTTI_TRANSPORT");
    run_threads(request.ranks, [&](Communicator& each) { take_part(each, request); });
    return success;
  }
  words.insert(words.begin(), own_program());
  const Job job{.ranks = request.ranks,
                .command = std::move(words),
                .variables = {{"TUTTI_TRANSPORT", pairs == Pairs::loopback ? "tcp" : "shm"}},
                .binding = Binding::core,
                .speaker = "tutti tune",
                .direct = true};
  return Launcher(job).run();
}

/// Measures ranks that all reach each other in the same way, in a launch of its own. With a
/// profile, only its best algorithms.
std::optional<Profile> measure_once(const Request& request, Pairs pairs, double seconds,
                                    const std::string& profile, const Interrupts& interrupts) {
  const TemporaryFile part;
  std::vector<std::string> words{"tune",
                                 "-n",
                                 std::to_string(request.ranks),
                                 "--transport",
                                 std::string(name(pairs)),
                                 "--time",
                                 std::to_string(seconds),
                                 "--most",
                                 std::to_string(request.most_bytes),
                                 "--part",
                                 part.path()};
  for (const measure::NamedSchedule& each : request.schedules) {
    words.insert(words.end(), {"--schedule", each.name.substr(file_prefix.size())});
  }
  if (!profile.empty()) {
    words.emplace_back("--refine");
    ::setenv("TUTTI_PROFILE", profile.c_str(), 1);
  } else {
    ::unsetenv("TUTTI_PROFILE");
  }
  if (run_again(words, interrupts) != success) return std::nullopt;
  return Profile::parse(part.text());
}

std::optional<Profile> measure_way(const Request& request, Pairs pairs, double seconds,
                                   const Interrupts& interrupts) {
  constexpr double share_of_first = 0.5;
  std::optional<Profile> found =
      measure_once(request, pairs, share_of_first * seconds, /*profile=*/"", interrupts);
  if (!found) return found;
  const TemporaryFile known;
  write_text(known.path(), found->json());
  std::vector<Profile> again;
  for (int i = 0; i < refinements; ++i) {
    const auto more = measure_once(request, pairs, (1 - share_of_first) * seconds / refinements,
                                   known.path(), interrupts);
    if (!more) return more;
    again.push_back(*more);
  }
  found->take_in(again);
  return found;
}

/// The share of the time: calls that take longer and vary more get more.
double weight(Pairs pairs) {
  switch (pairs) {
    case Pairs::process:
      return 2;
    case Pairs::host:
      return 3;
    case Pairs::loopback:
      return 4;
    case Pairs::network:
      break;
  }
  reject("for ranks on several hosts start 'tutti tune' on all of them, by mpirun or srun");
}

/// Fails before the measurement rather than after it.
void require_schedules(const Request& request) {
  for (const measure::NamedSchedule& each : request.schedules) {
    const std::uint32_t ranks = each.schedule.contract().ranks;
    if (ranks == request.ranks) continue;
    reject(each.schedule.label() + " is for " + in_plural(ranks, "rank") + ", not for " +
           std::to_string(request.ranks));
  }
}

int measure_all(const Request& request) {
  const Interrupts interrupts;
  const std::string path = output_path(request);
  require_schedules(request);
  double weights = 0;
  for (const Pairs pairs : request.pairs) weights += weight(pairs);
  Profile found;
  for (const Pairs pairs : request.pairs) {
    const auto part =
        measure_way(request, pairs, request.seconds * weight(pairs) / weights, interrupts);
    if (!part) return violation_found;
    found.merge(*part);
  }
  finish(found, path);
  return success;
}

/// With absolute paths, since the profile can be in any folder and be used from any.
std::vector<measure::NamedSchedule> named_schedules(const Options& options) {
  std::vector<measure::NamedSchedule> found;
  for (const std::string& path : options.schedules) {
    const std::string name = std::string(file_prefix) + std::filesystem::absolute(path).string();
    found.push_back({.name = name, .schedule = schedule_named(name, "")});
  }
  return found;
}

Request parse(const Options& options) {
  Request request = options.parsed;
  for (const std::string& each : options.transports) {
    request.pairs.push_back(parse_transport(each));
  }
  request.most_bytes = parse_bytes(options.most);
  request.schedules = named_schedules(options);
  return request;
}

int run(const Request& request, const std::vector<std::string>& words) {
  const Launch launched = read_environment(environment_variable);
  if (launched.how != Launch::How::alone && launched.size > 1) {
    Communicator communicator = Communicator::from_environment();
    take_part(communicator, request);
    return success;
  }
  if (request.ranks < 2) reject("how many ranks? Add -n, such as -n 4.");
  return request.part.empty() ? measure_all(request) : measure_part(request, words);
}

}  // namespace

void add_tune(Command tutti, std::vector<std::string> words) {
  const Command command =
      tutti.command("tune", "measure this machine, so that tutti chooses the fastest algorithms");
  auto options = std::make_shared<Options>();
  command.option("-n,-p,--ranks", options->parsed.ranks, "number of ranks, started on this host")
      .text("N")
      .between(2U, most_ranks);
  command.option("--transport", options->transports, "how they reach each other: inproc, shm, tcp")
      .text("WAY,…")
      .delimiter(',');
  command.option("--time", options->parsed.seconds, "time for everything, about")
      .shows_default()
      .between(1e-3, 3600.0);
  command.option("--most", options->most, "the largest size to measure").shows_default();
  command
      .option("-o,--output", options->parsed.output,
              "the profile (default: TUTTI_PROFILE, or tutti/profile.json in the folder "
              "for settings)")
      .text("FILE");
  command.option("--schedule", options->schedules, "also measure this schedule in JSON")
      .text("FILE")
      .one_word();
  command.option("--part", options->parsed.part, "").hidden();
  command.flag("--refine", options->parsed.refine, "").hidden();
  command.footer(
      "tutti tune -n 4\n\n"
      "The results are added to the profile: run it for every number of ranks that you use. "
      "Under\n"
      "tutti run, mpirun, torchrun or srun it measures their ranks, also on several hosts.");
  command.action([options, words = std::move(words)] { return run(parse(*options), words); });
}

}  // namespace tutti::cli
