#include "flight/blame.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <tutti/error.hpp>

#include "cli/commands.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/text.hpp"
#include "cli/console/text_file.hpp"
#include "core/json_value.hpp"
#include "core/quantity.hpp"
#include "flight/digits.hpp"

namespace tutti::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> places;
  bool json = false;
};

/// The dumps that were read, and the errors in others.
struct Evidence {
  std::vector<FlightDump> dumps;
  std::vector<std::string> faults;
};

void add(Evidence& evidence, FlightDump dump) {
  evidence.faults.insert(evidence.faults.end(), dump.faults.begin(), dump.faults.end());
  evidence.dumps.push_back(std::move(dump));
}

/// A file that is not a dump does not stop the others from being read.
void add_directory(Evidence& evidence, const std::string& directory) {
  std::vector<std::string> paths;
  std::error_code failure;
  for (fs::directory_iterator each(directory, failure), end; !failure && each != end;
       each.increment(failure)) {
    const std::string file = each->path().filename();
    if (file.starts_with("flight-") && file.ends_with(".jsonl")) paths.push_back(each->path());
  }
  if (failure) {
    throw Error(ErrorCode::invalid_argument,
                "cannot read the directory " + directory + ": " + failure.message());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    try {
      add(evidence, parse_dump(read_text(path), path));
    } catch (const Error& error) {
      evidence.faults.emplace_back(error.what());
    }
  }
}

Evidence gather(const std::vector<std::string>& places) {
  Evidence evidence;
  for (const std::string& place : places) {
    if (std::error_code failure; fs::is_directory(place, failure)) {
      add_directory(evidence, place);
    } else {
      add(evidence, parse_dump(read_text(place), place));
    }
  }
  if (evidence.dumps.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "there is no dump (flight-….jsonl) in " + places.front() +
                    (evidence.faults.empty()
                         ? "; were the ranks started with TUTTI_FLIGHT=" + places.front() + "?"
                         : ": " + evidence.faults.front()));
  }
  return evidence;
}

std::string state_of(const Witness& witness) {
  const FlightRecord* const last = witness.last();
  if (last == nullptr) return "";
  std::string state(name(last->state));
  if (last->wait && last->state != FlightRecord::State::done) {
    state += ", waits for rank " + std::to_string(last->wait->rank);
  }
  return state;
}

void print(const Blame& blame) {
  using Align = TextTable::Align;
  std::printf("%s, %s\n\n%s\n\n",
              blame.name.empty() ? "a communicator without a name" : blame.name.c_str(),
              in_plural(blame.ranks, "rank").c_str(), blame.text.c_str());
  TextTable table({{"rank", Align::right},
                   {"host", Align::left},
                   {"pid", Align::right},
                   {"last call", Align::left},
                   {"state", Align::left},
                   {"since", Align::right},
                   {"dumped on", Align::left}});
  std::size_t next = 0;
  for (std::uint32_t rank = 0; rank < blame.ranks; ++rank) {
    if (next == blame.witnesses.size() || blame.witnesses[next].rank() != rank) {
      table.add({std::to_string(rank), "", "", "", "no dump", "", ""});
      continue;
    }
    const Witness& witness = blame.witnesses[next++];
    const FlightRecord* const last = witness.last();
    table.add({std::to_string(rank), witness.dump().host, std::to_string(witness.dump().pid),
               last == nullptr ? "none" : words(*last), state_of(witness),
               last == nullptr ? "" : format_seconds(witness.seconds_since(*last)),
               witness.dump().reason});
  }
  std::fputs(table.text().c_str(), stdout);
}

Json to_json(const Witness& witness) {
  Json row{{"rank", witness.rank()},
           {"host", witness.dump().host},
           {"pid", witness.dump().pid},
           {"reason", witness.dump().reason}};
  if (!witness.dump().failure.empty()) row["failure"] = witness.dump().failure;
  if (const FlightRecord* const last = witness.last()) {
    row["call"] = last->number;
    row["words"] = words(*last);
    row["state"] = name(last->state);
    row["since_seconds"] = witness.seconds_since(*last);
    if (last->wait) row["waits_for"] = last->wait->rank;
  }
  return row;
}

void print_json(const std::vector<Blame>& verdicts, const Evidence& evidence) {
  Json document;
  document["communicators"] = Json::array();
  for (const Blame& blame : verdicts) {
    Json each{{"communicator", Digits(blame.communicator, 16, 16).text()},
              {"name", blame.name},
              {"ranks", blame.ranks},
              {"verdict", name(blame.verdict)},
              {"accused", blame.accused}};
    if (blame.call) each["call"] = *blame.call;
    each["text"] = blame.text;
    each["table"] = Json::array();
    for (const Witness& witness : blame.witnesses) each["table"].push_back(to_json(witness));
    document["communicators"].push_back(each);
  }
  document["faults"] = evidence.faults;
  std::puts(json_text(document, 2).c_str());
}

int run(const Options& options) {
  const Evidence evidence = gather(options.places);
  const std::vector<Blame> verdicts = blame(evidence.dumps);
  if (options.json) {
    print_json(verdicts, evidence);
  } else {
    for (const Blame& each : verdicts) {
      if (&each != &verdicts.front()) std::puts("");
      print(each);
    }
    for (const std::string& fault : evidence.faults) {
      std::fprintf(stderr, "tutti blame: %s\n", fault.c_str());
    }
  }
  const bool is_fine = std::all_of(verdicts.begin(), verdicts.end(), [](const Blame& each) {
    return each.verdict == Blame::Verdict::fine;
  });
  return is_fine ? success : violation_found;
}

}  // namespace

void add_blame(Command tutti) {
  const Command command =
      tutti.command("blame", "find the rank to blame for a job that failed, hangs or is slow");
  auto options = std::make_shared<Options>();
  command
      .option("places", options->places,
              "flight recorder dumps of all ranks, or directories of dumps")
      .required();
  command.json(options->json, "as JSON");
  command.footer(
      "TUTTI_FLIGHT=dumps tutti run -n 4 -- ./program\n"
      "tutti blame dumps\n\n"
      "The exit code is 0 if nothing is wrong, else 1: docs/failure.md.");
  command.action([options] { return run(*options); });
}

}  // namespace tutti::cli
