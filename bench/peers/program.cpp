#include "peers/program.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include "peers/measurement.hpp"
#include "peers/relay.hpp"
#include "peers/verification.hpp"

namespace peers {
namespace {

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Finds `text` among the names.
template <class Noun, std::size_t n>
Noun parse_name(const std::array<std::string_view, n>& names, const std::string& text,
                const char* noun) {
  const auto* const found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) throw UsageError("'" + text + "' is not a " + noun);
  return static_cast<Noun>(found - names.begin());
}

Collective parse_collective(const std::string& text) {
  return parse_name<Collective>(collective_names, text, "collective");
}

double parse_number(const std::string& text) {
  std::size_t used = 0;
  double number = -1;
  try {
    number = std::stod(text, &used);
  } catch (const std::logic_error&) {
  }
  if (used != text.size() || text.empty() || !(number >= 0) || number > 1e15) {
    throw UsageError("'" + text + "' is not a number");
  }
  return number;
}

std::size_t parse_size(const std::string& text) {
  return static_cast<std::size_t>(parse_number(text));
}

std::vector<std::size_t> parse_sizes(const std::string& text) {
  std::vector<std::size_t> sizes;
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, ',');) sizes.push_back(parse_size(one));
  return sizes;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + '"';
}

struct Options {
  Request request{};
  std::vector<std::size_t> sizes;
  std::string settings = "default";
  bool json = false;
  bool follow = false;
};

Options parse(const std::vector<std::string>& arguments) {
  Options options;
  bool named = false;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == arguments.size()) throw UsageError(argument + " needs a value");
      return arguments[++i];
    };
    if (argument == "--bytes") {
      options.sizes = parse_sizes(value());
    } else if (argument == "--seconds") {
      options.request.seconds = parse_number(value());
    } else if (argument == "--least") {
      options.request.least = parse_size(value());
    } else if (argument == "--settings") {
      options.settings = value();
    } else if (argument == "--in-place") {
      options.request.in_place = true;
    } else if (argument == "--barrier") {
      options.request.barrier = true;
    } else if (argument == "--fresh") {
      options.request.fresh = true;
    } else if (argument == "--json") {
      options.json = true;
    } else if (argument == "--follow") {
      options.follow = true;
    } else if (!named && argument[0] != '-') {
      options.request.collective = parse_collective(argument);
      named = true;
    } else {
      throw UsageError("unknown argument " + argument);
    }
  }
  if (!options.follow && !named) throw UsageError("measure needs a collective");
  if (!options.follow && options.sizes.empty()) {
    if (options.request.collective != Collective::barrier)
      throw UsageError("measure needs --bytes");
    options.sizes.push_back(0);
  }
  return options;
}

/// Parses one of the words after the first three: NAME or NAME=VALUE.
void take_word(Request& request, const std::string& word) {
  const std::size_t sign = std::min(word.find('='), word.size());
  const std::string name = word.substr(0, sign);
  const std::string value = word.substr(std::min(sign + 1, word.size()));
  if (name == "in-place") {
    request.in_place = true;
  } else if (name == "barrier") {
    request.barrier = true;
  } else if (name == "fresh") {
    request.fresh = true;
  } else if (name == "least") {
    request.least = parse_size(value);
  } else if (name == "warm") {
    request.warm_ups = parse_size(value);
  } else if (name == "check") {
    request.seed = parse_size(value);
  } else if (name == "dtype") {
    request.dtype = parse_name<DType>(dtype_names, value, "supported element type");
  } else if (name == "op") {
    request.op = parse_name<Op>(op_names, value, "supported operation");
  } else if (name == "root") {
    request.root = static_cast<int>(parse_size(value));
  } else {
    throw UsageError("unknown word " + word);
  }
}

/// COLLECTIVE BYTES SECONDS and the words of take_word().
Request parse_line(const std::string& line) {
  std::istringstream words(line);
  std::string collective;
  std::string bytes;
  std::string seconds;
  words >> collective >> bytes >> seconds;
  Request request{.collective = parse_collective(collective),
                  .bytes = parse_size(bytes),
                  .seconds = parse_number(seconds)};
  for (std::string word; words >> word;) take_word(request, word);
  return request;
}

void check_support(const Peer& peer, const Request& request) {
  if (request.root >= peer.ranks()) throw UsageError("the root is not below the number of ranks");
  if (peer.supports(case_of(request, peer.ranks()), request.in_place)) return;
  throw UsageError(peer.library() + " has no " + std::string(name(request.collective)) +
                   (request.in_place ? " in place" : "") + " with these settings");
}

void print_json(const Peer& peer, const Options& options, const Request& request,
                const Measurement& m) {
  const std::string settings = options.settings + (request.in_place ? " ip" : "") +
                               (request.barrier ? " barrier" : "") +
                               (request.fresh ? " fresh" : "");
  const std::string wrong = m.wrong ? std::to_string(*m.wrong) : "null";
  std::printf(
      "{\"library\": %s, \"version\": %s, \"collective\": \"%s\", \"ranks\": %d, \"bytes\": %zu, "
      "\"settings\": %s, \"algorithm\": %s, \"iterations\": %zu, \"median_us\": %.6g, "
      "\"p10_us\": %.6g, \"p90_us\": %.6g, \"wrong\": %s}\n",
      quoted(peer.library()).c_str(), quoted(peer.version()).c_str(),
      std::string(name(request.collective)).c_str(), peer.ranks(), request.bytes,
      quoted(settings).c_str(), quoted(m.algorithm).c_str(), m.iterations, m.median, m.p10, m.p90,
      wrong.c_str());
}

void print_text(const Peer& peer, const Request& request, const Measurement& m) {
  std::printf("%s %s p=%d %zu bytes: %.4g us (p10 %.4g, p90 %.4g, %zu iterations)\n",
              peer.library().c_str(), std::string(name(request.collective)).c_str(), peer.ranks(),
              request.bytes, m.median, m.p10, m.p90, m.iterations);
}

void answer(Peer& peer, StartingLine& line, const Options& options, const Request& request) {
  check_support(peer, request);
  const Measurement measurement = measure(peer, line, request);
  if (peer.rank() != 0) return;
  if (options.json || options.follow) {
    print_json(peer, options, request, measurement);
  } else {
    print_text(peer, request, measurement);
  }
  std::fflush(stdout);
}

void follow(Peer& peer, StartingLine& line, const Options& options) {
  Relay relay(peer);
  for (std::string order; relay.next(order);) {
    try {
      answer(peer, line, options, parse_line(order));
    } catch (const UsageError& error) {
      // All ranks have read the same line and throw together.
      if (peer.rank() != 0) continue;
      std::printf("{\"error\": %s}\n", quoted(error.what()).c_str());
      std::fflush(stdout);
    }
  }
}

int measure_all(Peer& peer, const Options& options) {
  StartingLine line(peer);
  if (options.follow) {
    follow(peer, line, options);
    return 0;
  }
  for (const std::size_t bytes : options.sizes) {
    Request request = options.request;
    request.bytes = bytes;
    answer(peer, line, options, request);
  }
  return 0;
}

}  // namespace

int run_program(Peer& peer, const std::vector<std::string>& arguments) {
  try {
    const std::string mode = arguments.empty() ? "" : arguments[0];
    if (mode == "measure") return measure_all(peer, parse(arguments));
    if (mode == "check") return check_cases(peer) == 0 ? 0 : 1;
    throw UsageError("the first argument must be measure or check");
  } catch (const UsageError& error) {
    if (peer.rank() == 0) std::fprintf(stderr, "%s\nusage:\n%s", error.what(), usage);
    return 2;
  }
}

}  // namespace peers
