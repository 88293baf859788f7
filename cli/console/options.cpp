#include "cli/console/options.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include <tutti/error.hpp>

#include "algorithms/lecture_names.hpp"
#include "core/quantity.hpp"

namespace tutti::cli {
namespace {

constexpr std::uint32_t most_number = 1U << 24;

[[noreturn]] void reject_range(const std::string& text) {
  throw Error(ErrorCode::invalid_argument,
              "'" + text + "' is not a list of numbers; write for example 8, 1-33 or 2,4,8");
}

[[noreturn]] void reject_large(std::string_view what) {
  throw Error(ErrorCode::invalid_argument,
              std::string(what) + " is more than " + std::to_string(most_number) + ", the maximum");
}

std::uint32_t parse_number(std::string_view text, const std::string& whole) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = end == text.data() + text.size() && !text.empty();
  if (is_number && (error == std::errc::result_out_of_range || number > most_number)) {
    reject_large(text);
  }
  if (error != std::errc{} || !is_number || number == 0) reject_range(whole);
  return number;
}

}  // namespace

std::vector<std::uint32_t> parse_ranges(const std::string& text) {
  std::vector<std::uint32_t> numbers;
  std::string_view rest = text;
  while (true) {
    const std::string_view item = rest.substr(0, rest.find(','));
    const std::size_t dash = item.find('-');
    const std::uint32_t first = parse_number(item.substr(0, dash), text);
    const std::uint32_t last =
        dash == std::string_view::npos ? first : parse_number(item.substr(dash + 1), text);
    if (last < first) reject_range(text);
    // The limit of one range also holds for all of them, or they would fill the memory.
    if (numbers.size() + (last - first) >= most_number) {
      reject_large("the length of the list '" + text + "'");
    }
    for (std::uint32_t each = first; each <= last; ++each) numbers.push_back(each);
    if (item.size() == rest.size()) return numbers;
    rest.remove_prefix(item.size() + 1);
  }
}

void ProblemOptions::add(Command command) {
  command.option("-p,-n,--ranks", ranks, "number of ranks").text("N").between(1U, 1U << 24);
  command.option("--root", root, "root of collectives that have one (default 0)").text("RANK");
  command.option("--shape", shape, "ranks per node x nodes, or a torus: 8x4, 4x4x2").text("SHAPE");
}

std::uint32_t ProblemOptions::rank_count() const {
  if (ranks != 0) return ranks;
  if (!shape.empty()) return static_cast<std::uint32_t>(parse_shape(shape).size());
  throw Error(ErrorCode::invalid_argument, "how many ranks? Add -p, such as -p 8.");
}

Problem ProblemOptions::problem(const Algorithm& algorithm) const {
  Problem problem{.ranks = rank_count(), .root = root};
  if (!shape.empty()) {
    problem.shape = parse_shape(shape);
  } else if (algorithm.needs_shape()) {
    problem.shape = squarest(problem.ranks);
  }
  return problem;
}

void ModelOptions::add(Command command) {
  command.option("--alpha", alpha, "time per message: 1us").text("TIME (1us)");
  command.option("--bandwidth", bandwidth, "of a link, 1/β: 100GB/s, 25Gbps, 400G")
      .text("RATE (100GB/s)");
  command.option("--gamma", gamma, "time per byte added, or a rate: 0, 0.05ns, 20GB/s")
      .text("TIME (0)");
  command.option("--ranks-per-node", ranks_per_node, "links inside a node differ")
      .text("N (1)")
      .positive();
  command.option("--node-alpha", node_alpha, "time per message inside a node").text("TIME (0)");
  command.option("--node-bandwidth", node_bandwidth, "of a link inside a node")
      .text("RATE (1000GB/s)");
}

CostModel ModelOptions::model() const {
  return {.link = {.alpha = parse_seconds(alpha), .beta = 1 / parse_rate(bandwidth)},
          .gamma = parse_seconds_per_byte(gamma),
          .ranks_per_node = ranks_per_node,
          .inside = {.alpha = parse_seconds(node_alpha), .beta = 1 / parse_rate(node_bandwidth)}};
}

std::string ModelOptions::describe() const {
  std::string text = "α = " + alpha + ", 1/β = " + bandwidth + ", γ = " + gamma;
  if (ranks_per_node > 1) {
    text += "; inside nodes of " + std::to_string(ranks_per_node) + ": α = " + node_alpha +
            ", 1/β = " + node_bandwidth;
  }
  return text;
}

Pairs parse_transport(const std::string& text) {
  static const std::map<std::string, Pairs> transports{
      {"inproc", Pairs::process},   {"shm", Pairs::host},        {"tcp", Pairs::loopback},
      {"network", Pairs::network},  {"process", Pairs::process}, {"host", Pairs::host},
      {"loopback", Pairs::loopback}};
  const auto found = transports.find(text);
  if (found != transports.end()) return found->second;
  throw Error(ErrorCode::invalid_argument,
              "'" + text + "' is no transport; use inproc, shm, tcp or network");
}

void add_colour(Command command, Colour& colour) {
  const std::map<std::string, int> words{{"auto", static_cast<int>(Colour::automatic)},
                                         {"always", static_cast<int>(Colour::always)},
                                         {"never", static_cast<int>(Colour::never)}};
  const auto take = [&colour](int value) { colour = static_cast<Colour>(value); };
  command.choice("--color", words, take, "auto, always or never").text("WHEN");
}

std::optional<Collective> find_collective(const std::string& name) {
  try {
    return parse_collective(name);
  } catch (const Error&) {
    return {};
  }
}

std::vector<std::string> joined_names(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  std::optional<Collective> group;  // The collective named last.
  for (const std::string& word : words) {
    if (const auto collective = find_collective(word)) {
      group = collective;
      names.emplace_back(name(*collective));
      continue;
    }
    const std::string_view row =
        group && word.find('/') == std::string::npos
            ? table_name(*group, std::string_view(word).substr(0, word.find(':')))
            : "";
    if (row.empty()) {
      if (word.find('/') == std::string::npos && !full_name(word)) (void)parse_collective(word);
      names.emplace_back(algorithm(word).name);
      continue;
    }
    if (names.back() == name(*group)) names.pop_back();
    const std::string values = word.substr(std::min(word.find(':'), word.size()));
    names.emplace_back(algorithm(std::string(name(*group)) + "/" + std::string(row) + values).name);
  }
  return names;
}

const Algorithm& algorithm_named(const std::string& name) {
  return algorithm_named(std::vector<std::string>{name});
}

const Algorithm& algorithm_named(const std::vector<std::string>& words) {
  const std::vector<std::string> names = joined_names(words);
  if (names.size() != 1) {
    throw Error(ErrorCode::invalid_argument, "name one algorithm, such as allreduce/ring");
  }
  if (const auto collective = find_collective(names.front())) {
    std::string known;
    for (const Algorithm& one : algorithms(*collective)) {
      known += ' ';
      known += one.name;
    }
    throw Error(ErrorCode::invalid_argument,
                "'" + names.front() + "' has several algorithms; name one of:" + known);
  }
  return algorithm(names.front());
}

std::vector<const Algorithm*> algorithms_named(const std::string& name) {
  std::vector<const Algorithm*> found;
  if (name.find('/') != std::string::npos) return {&algorithm(name)};
  for (const Algorithm& each : algorithms(parse_collective(name))) found.push_back(&each);
  return found;
}

}  // namespace tutti::cli
