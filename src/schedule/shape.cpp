#include <algorithm>
#include <charconv>
#include <limits>

#include <tutti/error.hpp>
#include <tutti/shape.hpp>

namespace tutti {
namespace {

constexpr std::size_t most_dimensions = 8;
constexpr std::uint64_t most_ranks = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void reject(std::string_view text) {
  throw Error(ErrorCode::invalid_argument, "'" + std::string(text) +
                                               "' is not a shape. Write positive numbers joined "
                                               "by 'x', such as 8x4 or 4x4x2.");
}

}  // namespace

std::uint64_t Shape::size() const {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  if (std::find(dimensions.begin(), dimensions.end(), 0U) != dimensions.end()) return 0;
  std::uint64_t product = 1;
  for (const std::uint32_t each : dimensions) {
    if (product > most / each) return most;
    product *= each;
  }
  return product;
}

std::string to_string(const Shape& shape) {
  std::string text;
  for (const std::uint32_t each : shape.dimensions) {
    if (!text.empty()) text += 'x';
    text += std::to_string(each);
  }
  return text;
}

Shape parse_shape(std::string_view text) {
  Shape shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::uint32_t dimension = 0;
    const auto [next, error] = std::from_chars(at, end, dimension);
    if (error != std::errc{} || dimension == 0) reject(text);
    shape.dimensions.push_back(dimension);
    if (shape.dimensions.size() > most_dimensions || shape.size() > most_ranks) reject(text);
    if (next == end) return shape;
    if (*next != 'x') reject(text);
    at = next + 1;
  }
}

Shape squarest(std::uint32_t ranks) {
  std::uint32_t side = 1;
  for (std::uint32_t i = 1; std::uint64_t{i} * i <= ranks; ++i) {
    if (ranks % i == 0) side = i;
  }
  return Shape{{ranks / side, side}};
}

}  // namespace tutti
