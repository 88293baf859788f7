#include "sim/effort_estimate.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include <tutti/error.hpp>

namespace tutti {
namespace {

// Measured for rings and all-to-alls of 1024 ranks: the message, its fold and its dependences, and
// what is needed while the programs are read.
constexpr double bytes_per_message = 200;
constexpr double seconds_per_message = 4e-7;

std::uint64_t messages_of(const Program& program) {
  std::uint64_t messages = 0;
  for (const Step step : program) {
    if (step.kind == Step::Kind::send) messages += step.peers.size();
  }
  return messages;
}

std::string rounded(double value, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, "%.2g %s", value, unit);
  return text;
}

}  // namespace

double EffortEstimate::bytes() const { return static_cast<double>(messages) * bytes_per_message; }

double EffortEstimate::seconds() const {
  return static_cast<double>(messages) * seconds_per_message;
}

EffortEstimate estimate_effort(const ScheduleSource& source) {
  constexpr std::uint32_t most_read = 48;
  const std::uint32_t p = source.contract.ranks;
  // The root, and the rank that takes part in most rounds of a tree, are among the first ranks;
  // they count once, or a tree would look as if every rank were its root.
  std::uint64_t messages = messages_of(source.program(Rank{0}));
  constexpr std::uint64_t most_messages = 1U << 20;
  const auto count = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(most_messages / (messages + 1), 3, most_read));
  std::uint64_t sampled = 0;
  std::uint32_t ranks = 0;
  for (std::uint32_t i = 0; i < count && ranks < p - 1; ++i, ++ranks) {
    const auto rank = 1 + static_cast<std::uint32_t>(std::uint64_t{i} * (p - 1) / count);
    sampled += messages_of(source.program(rank));
  }
  if (ranks > 0) messages += sampled * (p - 1) / ranks;
  return {.messages = messages};
}

void require_room(const ScheduleSource& source, std::uint64_t memory) {
  if (memory == 0) return;
  const EffortEstimate effort = estimate_effort(source);
  if (effort.bytes() <= static_cast<double>(memory)) return;
  throw Error(ErrorCode::unsupported,
              "simulating " + source.name + " rank by rank takes about " +
                  rounded(static_cast<double>(effort.messages), "messages") + ", " +
                  rounded(effort.bytes() / 1e9, "GB of memory") + " and at least " +
                  rounded(effort.seconds(), "s") +
                  ": use fewer ranks or longer slices, a size that the chunks divide and ranks in "
                  "order (ranks that do the same are simulated once), or allow more memory");
}

}  // namespace tutti
