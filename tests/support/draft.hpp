#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tutti/schedule/schedule.hpp>

namespace tutti::test {

/// A step that can be changed.
struct DraftStep {
  Step::Kind kind = Step::Kind::send;
  std::uint32_t round = 0;
  std::vector<Rank> peers;
  std::optional<std::uint32_t> own;
  std::vector<ChunkRange> chunks;
  Variant variant{};
  Variant own_variant{};
  std::vector<Variant> sources{};

  /// The same step with another variant that is sent, or made.
  [[nodiscard]] DraftStep as(std::uint16_t made) const;
  /// The same fold with another variant as the rank's own.
  [[nodiscard]] DraftStep with(std::uint16_t own_is) const;

  friend bool operator==(const DraftStep&, const DraftStep&) = default;
};

/// A schedule that can be changed, step by step, also into an invalid one.
struct Draft {
  std::string name;
  Contract contract;
  std::uint32_t rounds = 0;
  std::vector<std::vector<DraftStep>> programs;

  friend bool operator==(const Draft&, const Draft&) = default;
};

[[nodiscard]] Draft draft(const Schedule& schedule);
[[nodiscard]] Schedule schedule(const Draft& draft);
[[nodiscard]] Program program(const std::vector<DraftStep>& steps, std::uint32_t rounds);

/// Short forms for schedules written by hand: send(0, {1}, {3}) sends chunk 3 to rank 1 in round 0.
[[nodiscard]] DraftStep send(std::uint32_t round, const std::vector<std::uint32_t>& to,
                             const std::vector<std::uint64_t>& chunks);
[[nodiscard]] DraftStep receive(std::uint32_t round, const std::vector<std::uint32_t>& from,
                                const std::vector<std::uint64_t>& chunks);
/// Folds in the rank's own version after the first `own` peers.
[[nodiscard]] DraftStep fold(std::uint32_t round, const std::vector<std::uint32_t>& from,
                             std::uint32_t own, const std::vector<std::uint64_t>& chunks);
/// Makes variant `to` from other variants of the rank.
[[nodiscard]] DraftStep local(std::uint32_t round, const std::vector<std::uint16_t>& sources,
                              std::uint16_t to, const std::vector<std::uint64_t>& chunks);

}  // namespace tutti::test
