#include <algorithm>
#include <cmath>

#include <tutti/error.hpp>
#include <tutti/network/pair_times.hpp>

#include "core/decimal.hpp"
#include "core/quantity.hpp"

namespace tutti {
namespace {

constexpr std::uint32_t most_ranks = 4096;

void check_count(std::size_t ranks) {
  if (ranks <= most_ranks) return;
  throw Error(ErrorCode::unsupported, "a matrix of all pairs of " + std::to_string(ranks) +
                                          " ranks is too large: use at most " +
                                          std::to_string(most_ranks) + " ranks");
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// A number, with or without a unit.
double read_cell(std::string_view cell, double (*parse)(std::string_view)) {
  double number = 0;
  const auto [end, error] = read_decimal(cell.data(), cell.data() + cell.size(), number);
  const bool bare = error == std::errc{} && end == cell.data() + cell.size();
  return bare ? number : parse(cell);
}

struct Matrix {
  std::uint32_t ranks = 0;
  std::vector<double> values{};
};

Matrix read_matrix(std::string_view text, std::string_view what,
                   double (*parse)(std::string_view)) {
  std::vector<std::string_view> lines = split(text, '\n');
  while (!lines.empty() && trimmed(lines.back()).empty()) lines.pop_back();
  check_count(lines.size());
  Matrix matrix{.ranks = static_cast<std::uint32_t>(lines.size()), .values = {}};
  for (std::size_t from = 0; from < lines.size(); ++from) {
    const auto reject = [&](const std::string& message) {
      throw Error(ErrorCode::invalid_argument,
                  std::string(what) + ", line " + std::to_string(from + 1) + ": " + message);
    };
    const std::vector<std::string_view> cells = split(lines[from], ',');
    if (cells.size() != lines.size()) {
      reject("there are " + std::to_string(cells.size()) + " values, but " +
             std::to_string(lines.size()) + " lines: the matrix must be square");
    }
    for (std::size_t to = 0; to < cells.size(); ++to) {
      try {
        matrix.values.push_back(from == to ? 0 : read_cell(trimmed(cells[to]), parse));
      } catch (const Error& error) {
        reject(error.what());
      }
      const double value = matrix.values.back();
      if (std::isfinite(value) && value >= 0) continue;
      reject("value " + std::to_string(to + 1) + " is '" + std::string(trimmed(cells[to])) +
             "': it must be finite and not negative");
    }
  }
  return matrix;
}

}  // namespace

PairTimes::PairTimes(std::uint32_t ranks, std::vector<double> seconds)
    : ranks_(ranks), seconds_(std::move(seconds)) {
  if (seconds_.size() != std::size_t{ranks} * ranks) {
    throw Error(ErrorCode::invalid_argument,
                "for the times between " + std::to_string(ranks) + " ranks there are " +
                    std::to_string(seconds_.size()) + " numbers instead of " +
                    std::to_string(std::size_t{ranks} * ranks));
  }
  for (std::size_t i = 0; i < seconds_.size(); ++i) {
    if (std::isfinite(seconds_[i]) && seconds_[i] >= 0) continue;
    throw Error(ErrorCode::invalid_argument, "the time from rank " + std::to_string(i / ranks) +
                                                 " to rank " + std::to_string(i % ranks) + " is " +
                                                 std::to_string(seconds_[i]) +
                                                 " s: it must be finite and not negative");
  }
}

PairTimes pair_times(const Network& network, Routes& routes, std::uint64_t bytes) {
  const std::uint32_t p = network.rank_count();
  check_count(p);
  std::vector<double> seconds(std::size_t{p} * p);
  std::vector<LinkId> links;
  for (std::uint32_t from = 0; from < p; ++from) {
    for (std::uint32_t to = 0; to < p; ++to) {
      links.clear();
      routes.append(from, to, links);
      double latency = 0;
      double inverse_rate = 0;
      for (const LinkId link : links) {
        latency += network[link].latency;
        inverse_rate = std::max(inverse_rate, 1 / network[link].bytes_per_second);
      }
      seconds[std::size_t{from} * p + to] = latency + static_cast<double>(bytes) * inverse_rate;
    }
  }
  return {p, std::move(seconds)};
}

PairTimes pair_times_from_csv(std::string_view bandwidths, std::string_view latencies,
                              std::uint64_t bytes) {
  const Matrix rates = read_matrix(bandwidths, "bandwidths", parse_rate);
  if (rates.ranks == 0) {
    throw Error(ErrorCode::invalid_argument,
                "bandwidths: there are no values; write a line for "
                "each rank with one value for each rank");
  }
  Matrix delays = read_matrix(latencies, "latencies", parse_seconds);
  if (delays.ranks == 0) delays.values.resize(rates.values.size());
  if (delays.values.size() != rates.values.size()) {
    throw Error(ErrorCode::invalid_argument,
                "the bandwidths are for " + std::to_string(rates.ranks) +
                    " ranks, but the latencies are for " + std::to_string(delays.ranks));
  }
  std::vector<double> seconds(rates.values.size());
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (i % (rates.ranks + 1) == 0) continue;  // The diagonal.
    if (rates.values[i] == 0) {
      throw Error(ErrorCode::invalid_argument,
                  "bandwidths, line " + std::to_string(i / rates.ranks + 1) +
                      ": a bandwidth is 0; write a small value for a pair that is not to be used");
    }
    seconds[i] = delays.values[i] + static_cast<double>(bytes) / rates.values[i];
  }
  return {rates.ranks, std::move(seconds)};
}

}  // namespace tutti
