#include <algorithm>
#include <limits>

#include <tutti/error.hpp>
#include <tutti/schedule/schedule_json.hpp>

#include "core/json.hpp"

namespace tutti {
namespace {

constexpr std::string_view format_name = "tutti-schedule";
constexpr std::uint64_t plain_version = 1;   // Only sends and receives of variant 0.
constexpr std::uint64_t format_version = 2;  // Also local steps and variants of chunks.
constexpr std::string_view own_word = "own";

// ---------------------------------------------------------------------------------- writing

void write_chunks(std::span<const ChunkRange> chunks, std::string& out) {
  out += '[';
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (i > 0) out += ", ";
    const std::string first = std::to_string(chunks[i].first.index());
    out +=
        chunks[i].count == 1 ? first : "[" + first + ", " + std::to_string(chunks[i].count) + "]";
  }
  out += ']';
}

/// "own" is variant 0, {"own": 1} another variant.
std::string own_text(Variant variant) {
  if (variant == Variant{}) return json_string(own_word);
  return "{" + json_string(own_word) + ": " + std::to_string(variant.index()) + "}";
}

void write_operands(const Step& step, std::string& out) {
  bool first = true;
  const auto add = [&](const std::string& word) {
    if (!first) out += ", ";
    first = false;
    out += word;
  };
  for (std::size_t i = 0; i < step.peers.size(); ++i) {
    if (step.own == i) add(own_text(step.own_variant));
    add(std::to_string(step.peers[i]));
  }
  if (step.own && *step.own >= step.peers.size()) add(own_text(step.own_variant));
  for (const Variant source : step.sources) add(own_text(source));
}

/// The JSON keys of a step: the key of its chunks, and the key of its peers or sources.
struct StepWords {
  const char* chunks;
  const char* ends;
};

constexpr StepWords words_of(Step::Kind kind) {
  switch (kind) {
    case Step::Kind::send:
      return {.chunks = "send", .ends = "to"};
    case Step::Kind::receive:
      return {.chunks = "receive", .ends = "from"};
    case Step::Kind::local:
      break;
  }
  return {.chunks = "local", .ends = "from"};
}

void write_step(const Step& step, std::string& out) {
  const StepWords words = words_of(step.kind);
  out += "{\"round\": " + std::to_string(step.round) + ", \"" + words.chunks + "\": ";
  write_chunks(step.chunks, out);
  out += std::string(", \"") + words.ends + "\": [";
  write_operands(step, out);
  out += ']';
  if (step.variant != Variant{}) {
    out += ", \"variant\": " + std::to_string(step.variant.index());
  }
  out += '}';
}

// ---------------------------------------------------------------------------------- reading

constexpr std::uint64_t most_ranks = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t most_rounds = std::numeric_limits<std::uint32_t>::max() - 1;
constexpr std::size_t most_sources = std::numeric_limits<std::uint16_t>::max();
// So that sums of a few chunk numbers fit in 64 bits.
constexpr std::uint64_t most_chunks = std::uint64_t{1} << 60;

Contract read_contract(const JsonReader& document) {
  Contract contract;
  const JsonReader word = document.at("collective");
  contract.collective = word.checked([&] { return parse_collective(word.string()); });
  contract.ranks = document.at("ranks").whole<std::uint32_t>(1, most_ranks);
  contract.chunks = document.at("chunks").whole(1, most_chunks);
  if (has_root(contract.collective)) {
    const std::uint64_t last = contract.ranks - 1;
    contract.root = document.at("root").whole<std::uint32_t>(0, last);
  } else if (document.contains("root")) {
    document.at("root").reject(std::string(name(contract.collective)) + " has no root");
  }
  document.at("chunks").checked([&] { contract.check(); });
  return contract;
}

std::vector<ChunkRange> read_chunks(const JsonReader& list, std::uint64_t chunks) {
  std::vector<ChunkRange> ranges;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonReader each = list[i];
    if (!each.is_array()) {
      ranges.emplace_back(Chunk{each.whole(0, chunks - 1)});
      continue;
    }
    if (each.size() != 2) each.reject("a range of chunks is [first, count]");
    const std::uint64_t first = each[0].whole(0, chunks - 1);
    ranges.emplace_back(Chunk{first}, each[1].whole(1, chunks - first));
  }
  if (ranges.empty()) list.reject("a step needs at least one chunk");
  return ranges;
}

/// Reads the steps of a document.
struct StepReader {
  const Contract& contract;
  std::uint64_t rounds;
  std::uint64_t version;

  [[nodiscard]] static bool is_own(const JsonReader& entry) {
    return entry.is_string() && entry.string() == own_word;
  }

  [[nodiscard]] static Variant variant(const JsonReader& value) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint16_t>::max();
    return Variant{value.whole<std::uint16_t>(0, most)};
  }

  /// The variant of the rank's own data that an entry of "from" names; no value if it names a rank.
  [[nodiscard]] std::optional<Variant> own(const JsonReader& entry) const {
    if (is_own(entry)) return Variant{};
    if (version == plain_version || !entry.is_object()) return std::nullopt;
    entry.allow_only({own_word});
    return variant(entry.at("own"));
  }

  void read(const JsonReader& node, Program& program) const {
    const Step::Kind kind = kind_of(node);
    const StepWords words = words_of(kind);
    if (version == plain_version) {
      node.allow_only({"round", words.chunks, words.ends});
    } else {
      node.allow_only({"round", words.chunks, words.ends, "variant"});
    }
    if (rounds == 0) node.reject("a schedule of 0 rounds cannot have steps");
    const auto round = node.at("round").whole<std::uint32_t>(0, rounds - 1);
    const std::vector<ChunkRange> chunks = read_chunks(node.at(words.chunks), contract.chunks);
    Operands operands = read_operands(node.at(words.ends), kind);
    program.append({.kind = kind,
                    .variant = node.contains("variant") ? variant(node.at("variant")) : Variant{},
                    .round = round,
                    .peers = operands.peers,
                    .own = operands.own,
                    .own_variant = operands.own_variant,
                    .chunks = chunks,
                    .sources = operands.sources});
  }

 private:
  struct Operands {
    std::vector<Rank> peers{};
    std::optional<std::uint32_t> own{};
    Variant own_variant{};
    std::vector<Variant> sources{};
  };

  [[nodiscard]] Step::Kind kind_of(const JsonReader& node) const {
    const bool sends = node.contains("send");
    const bool receives = node.contains("receive");
    const bool local = version > plain_version && node.contains("local");
    if (sends + receives + local != 1) {
      node.reject("a step has either \"send\" and \"to\" or \"receive\" and \"from\"" +
                  std::string(version > plain_version ? " or \"local\" and \"from\"" : ""));
    }
    return sends ? Step::Kind::send : receives ? Step::Kind::receive : Step::Kind::local;
  }

  [[nodiscard]] Operands read_operands(const JsonReader& list, Step::Kind kind) const {
    Operands found;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const JsonReader entry = list[i];
      const std::optional<Variant> named = kind == Step::Kind::send ? std::nullopt : own(entry);
      if (kind == Step::Kind::local) {
        if (!named) entry.reject("expected \"own\" or {\"own\": VARIANT}");
        if (found.sources.size() == most_sources) entry.reject("more than 65535 sources");
        found.sources.push_back(*named);
      } else if (named) {
        if (found.own) entry.reject("\"own\" may occur only once in a fold");
        found.own = static_cast<std::uint32_t>(found.peers.size());
        found.own_variant = *named;
      } else {
        found.peers.emplace_back(entry.whole<std::uint32_t>(0, contract.ranks - 1));
      }
    }
    if (kind == Step::Kind::local) {
      if (found.sources.empty()) list.reject("expected at least one \"own\"");
    } else if (found.peers.empty()) {
      list.reject("expected at least one rank");
    }
    return found;
  }
};

Schedule read_schedule(const JsonReader& document) {
  if (document.at("format").string() != format_name) {
    document.at("format").reject("expected \"" + std::string(format_name) + "\"");
  }
  const std::uint64_t version = document.at("version").whole(plain_version, format_version);
  document.allow_only(
      {"format", "version", "name", "collective", "ranks", "root", "chunks", "rounds", "programs"});
  Schedule schedule{
      .name = document.at("name").string(), .contract = read_contract(document), .programs = {}};
  const std::uint64_t rounds = document.at("rounds").whole(0, most_rounds);
  const JsonReader programs = document.at("programs");
  if (programs.size() != schedule.contract.ranks) {
    programs.reject("there are " + std::to_string(programs.size()) + " programs for " +
                    std::to_string(schedule.contract.ranks) + " ranks");
  }
  const StepReader reader{.contract = schedule.contract, .rounds = rounds, .version = version};
  for (std::size_t r = 0; r < programs.size(); ++r) {
    Program& program = schedule.programs.emplace_back(static_cast<std::uint32_t>(rounds));
    const JsonReader steps = programs[r];
    for (std::size_t i = 0; i < steps.size(); ++i) reader.read(steps[i], program);
  }
  return schedule;
}

}  // namespace

std::string to_json(const Schedule& schedule) {
  const Contract& contract = schedule.contract;
  std::string out = "{\n";
  const auto member = [&](std::string_view key, const std::string& value) {
    out += "  \"" + std::string(key) + "\": " + value + ",\n";
  };
  member("format", json_string(format_name));
  // The lowest version that can represent the schedule, so that older readers can read it too.
  const bool plain = std::all_of(schedule.programs.begin(), schedule.programs.end(),
                                 [](const Program& each) { return each.is_plain(); });
  member("version", std::to_string(plain ? plain_version : format_version));
  member("name", json_string(schedule.name));
  member("collective", json_string(name(contract.collective)));
  member("ranks", std::to_string(contract.ranks));
  if (has_root(contract.collective)) member("root", std::to_string(contract.root));
  member("chunks", std::to_string(contract.chunks));
  member("rounds", std::to_string(schedule.rounds()));
  out += "  \"programs\": [";
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    out += r == 0 ? "\n    [" : ",\n    [";
    bool first = true;
    for (const Step step : schedule.programs[r]) {
      out += first ? "\n      " : ",\n      ";
      first = false;
      write_step(step, out);
    }
    out += first ? "]" : "\n    ]";
  }
  out += "\n  ]\n}\n";
  return out;
}

Schedule schedule_from_json(std::string_view text) {
  try {
    return read_schedule(JsonReader::parse(text));
  } catch (const JsonError& error) {
    throw Error(ErrorCode::invalid_argument, std::string("schedule JSON: ") + error.what());
  }
}

}  // namespace tutti
