// A timeline of one step, in the trace format of Chrome: `tutti draw --trace FILE` draws it, and
// ui.perfetto.dev opens it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/price.hpp>

#include "model.hpp"

namespace training {

/// The file that `--trace FILE` at the end of a command line names; empty if there is none.
inline std::string trace_file(int argc, char** argv) {
  return argc > 2 && std::string(argv[argc - 2]) == "--trace" ? argv[argc - 1] : "";
}

class Timeline {
 public:
  explicit Timeline(std::string title, std::vector<std::string> notes = {})
      : title_(std::move(title)), notes_(std::move(notes)) {}

  /// A new row, below the others. Returns its number.
  std::uint32_t row(const std::string& name) {
    add("\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":" + std::to_string(rows_) +
        ",\"args\":{\"name\":\"" + name + "\"}");
    return rows_++;
  }
  /// From `begin` for `seconds`. Spans of one kind have one colour.
  void span(std::uint32_t row, const std::string& kind, const std::string& name, double begin,
            double seconds) {
    add("\"ph\":\"X\",\"name\":\"" + name + "\",\"cat\":\"" + kind + "\",\"pid\":0,\"tid\":" +
        std::to_string(row) + ",\"ts\":" + micro(begin) + ",\"dur\":" + micro(seconds));
  }
  /// An arrow from one row to another.
  void message(std::uint32_t from, double sent, std::uint32_t to, double received) {
    const std::string id =
        ",\"cat\":\"message\",\"name\":\"message\",\"id\":" + std::to_string(arrows_++) +
        ",\"pid\":0";
    add("\"ph\":\"s\"" + id + ",\"tid\":" + std::to_string(from) + ",\"ts\":" + micro(sent));
    add("\"ph\":\"f\",\"bp\":\"e\"" + id + ",\"tid\":" + std::to_string(to) +
        ",\"ts\":" + micro(received));
  }

  void write(const std::string& path) const {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) throw std::runtime_error("cannot write " + path);
    std::fprintf(file, "{\"traceEvents\":[\n%s\n],\"otherData\":{\"title\":\"%s\",\"notes\":[",
                 events_.c_str(), title_.c_str());
    for (std::size_t i = 0; i < notes_.size(); ++i) {
      std::fprintf(file, "%s\"%s\"", i == 0 ? "" : ",", notes_[i].c_str());
    }
    std::fprintf(file, "]}}\n");
    std::fclose(file);
  }

 private:
  void add(const std::string& event) { events_ += (events_.empty() ? "{" : ",\n{") + event + "}"; }
  static std::string micro(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", seconds * 1e6);
    return text;
  }

  std::string title_;
  std::vector<std::string> notes_;
  std::string events_;
  std::uint32_t rows_ = 0;
  std::uint32_t arrows_ = 0;
};

/// Two rows: a rank that computes, and its network. Each does one thing at a time.
class Lanes {
 public:
  Lanes(Timeline& timeline, const std::string& prefix)
      : timeline_(timeline),
        computing_(timeline.row(prefix + "rank")),
        sending_(timeline.row(prefix + "network")) {}

  /// Begins when the lane is free and `after` has passed. Returns the end.
  double compute(const std::string& kind, const std::string& name, double seconds,
                 double after = 0) {
    return add(computing_, computed_, kind, name, seconds, after);
  }
  double transfer(const std::string& kind, const std::string& name, double seconds, double after) {
    return add(sending_, transferred_, kind, name, seconds, after);
  }
  [[nodiscard]] double computed() const { return computed_; }
  [[nodiscard]] double transferred() const { return transferred_; }

 private:
  double add(std::uint32_t row, double& free, const std::string& kind, const std::string& name,
             double seconds, double after) {
    const double begin = std::max(free, after);
    timeline_.span(row, kind, name, begin, seconds);
    return free = begin + seconds;
  }

  Timeline& timeline_;
  std::uint32_t computing_;
  std::uint32_t sending_;
  double computed_ = 0;
  double transferred_ = 0;
};

/// A machine to draw timelines of: ranks of 1 GFLOP/s on Gigabit Ethernet. Times that are measured
/// where ranks share cores would show the machine, not the strategy.
struct Machine {
  static constexpr const char* prices = "prices: 1 GFLOP/s, 125 MB/s, 10 µs per message";
  double flops = 1e9;
  tutti::CostModel network{.link = {.alpha = 10e-6, .beta = 1 / 125e6}};

  /// The price of a collective: see docs/cost-model.md. n is the size of the larger buffer.
  [[nodiscard]] double price(const char* algorithm, std::uint32_t ranks, std::uint64_t n) const {
    if (ranks == 1) return 0;
    const tutti::Schedule schedule = tutti::algorithm(algorithm).schedule({.ranks = ranks});
    return tutti::Pricer(schedule)
        .price(tutti::even_layout(schedule.contract, n), network, tutti::Ports::one)
        .seconds;
  }
  /// The time of x·W in a layer of the MLP. The backward pass has two such products.
  [[nodiscard]] double product(std::size_t rows) const {
    return 2 * static_cast<double>(rows * width * width) / flops;
  }
  [[nodiscard]] double message(std::uint64_t bytes) const {
    return network.link.alpha + network.link.beta * static_cast<double>(bytes);
  }
};

}  // namespace training
