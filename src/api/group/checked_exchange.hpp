#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/exchange.hpp>

namespace tutti {

/// Passes on the answers of another exchange, which a program may have written, and checks that
/// they have one text for each rank. Every new group uses its exchange through this.
class CheckedExchange final : public Exchange {
 public:
  /// The exchange must outlive this.
  CheckedExchange(Exchange& exchange, std::uint32_t self, std::uint32_t ranks)
      : exchange_(exchange), self_(self), ranks_(ranks) {}

  /// Throws invalid_argument for a wrong number of texts.
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& text) override;

 private:
  Exchange& exchange_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  std::uint32_t round_ = 0;
};

}  // namespace tutti
