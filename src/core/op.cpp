#include <algorithm>
#include <array>
#include <string>

#include <tutti/error.hpp>
#include <tutti/op.hpp>

#include "core/nearest.hpp"

namespace tutti {
namespace {

constexpr std::array all_ops{Op::sum, Op::prod, Op::min, Op::max,
                             Op::avg, Op::band, Op::bor, Op::bxor};
constexpr std::array<std::string_view, all_ops.size()> op_names{"sum", "prod", "min", "max",
                                                                "avg", "band", "bor", "bxor"};

}  // namespace

std::span<const Op> ops() { return all_ops; }

std::string_view name(Op op) { return op_names.at(static_cast<std::size_t>(op)); }

std::string_view domain(Op op) {
  if (op >= Op::band) return "integers";
  return op == Op::min || op == Op::max ? "real numbers" : "numbers";
}

Op parse_op(std::string_view text) {
  const auto found = std::find(op_names.begin(), op_names.end(), text);
  if (found != op_names.end())
    return all_ops.at(static_cast<std::size_t>(found - op_names.begin()));
  throw Error(ErrorCode::invalid_argument, "'" + std::string(text) + "' is not an operation." +
                                               did_you_mean(text, op_names) +
                                               " There are: sum prod min max avg band bor bxor.");
}

}  // namespace tutti
