#pragma once

#include <tutti/schedule/verify.hpp>

namespace tutti {

/// Collects violations and formats their messages.
class Findings {
 public:
  static constexpr std::size_t most_kept = 100;

  /// The location of a violation.
  struct Place {
    Rank rank{};
    std::optional<std::uint32_t> round{};
    std::optional<std::size_t> step{};
    std::optional<Chunk> chunk{};
  };

  void add(Violation::Kind kind, const Place& place, const std::string& what) {
    ++count_;
    if (kept_.size() >= most_kept) return;
    std::string words = "rank " + std::to_string(place.rank);
    if (place.round) words += ", round " + std::to_string(*place.round);
    if (place.step) words += ", step " + std::to_string(*place.step);
    if (place.chunk) words += ", chunk " + std::to_string(place.chunk->index());
    kept_.push_back({.kind = kind,
                     .rank = place.rank,
                     .round = place.round,
                     .step = place.step,
                     .chunk = place.chunk,
                     .message = std::string(name(kind)) + ": " + words + ": " + what});
  }

  /// Appends the violations of `others`.
  void add(const Findings& others) {
    count_ += others.count_;
    for (const Violation& each : others.kept_) {
      if (kept_.size() < most_kept) kept_.push_back(each);
    }
  }

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::vector<Violation>& kept() { return kept_; }

 private:
  std::vector<Violation> kept_;
  std::uint64_t count_ = 0;
};

}  // namespace tutti
