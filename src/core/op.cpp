#include <algorithm>
#include <array>
#include <string>

#include <tutti/error.hpp>
#include <tutti/op.hpp>

#include "core/nearest.hpp"

namespace tutti {
namespace {

constexpr std::array all{Op::sum, Op::prod, Op::min, Op::max, Op::avg, Op::band, Op::bor, Op::bxor};
constexpr std::array<std::string_view, all.size()> names{"sum", "prod", "min", "max",
                                                         "avg", "band", "bor", "bxor"};

}  // namespace

std::span<const Op> ops() { return all; }

std::string_view name(Op op) { return names.at(static_cast<std::size_t>(op)); }

std::string_view domain(Op op) {
  if (op >= Op::band) return "integers";
  return op == Op::min || op == Op::max ? "real numbers" : "numbers";
}

Op parse_op(std::string_view text) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return all.at(static_cast<std::size_t>(found - names.begin()));
  throw Error(ErrorCode::invalid_argument, "'" + std::string(text) + "' is not an operation." +
                                               did_you_mean(text, names) +
                                               " There are: sum prod min max avg band bor bxor.");
}

}  // namespace tutti
