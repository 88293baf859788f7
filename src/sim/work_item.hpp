#pragma once

#include <cstdint>
#include <limits>

namespace tutti {

/// A message, a fold, or nothing.
class WorkItem {
 public:
  WorkItem() = default;
  static WorkItem message(std::uint32_t id) { return WorkItem(2 * id); }
  static WorkItem fold(std::uint32_t id) { return WorkItem(2 * id + 1); }

  [[nodiscard]] bool is_message() const { return word_ != none && word_ % 2 == 0; }
  [[nodiscard]] bool is_fold() const { return word_ != none && word_ % 2 == 1; }
  [[nodiscard]] std::uint32_t id() const { return word_ / 2; }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  explicit WorkItem(std::uint32_t word) : word_(word) {}
  std::uint32_t word_ = none;
};

}  // namespace tutti
