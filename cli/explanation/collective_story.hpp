#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <tutti/schedule/contract.hpp>

#include "render/paint.hpp"

namespace tutti::cli {

/// Explains a collective as text: its definition, boxes, dual, compositions, bounds and
/// algorithms. Requires: `contract` is a render::boxed_contract().
[[nodiscard]] std::string collective_story(const Contract& contract, const render::Paint& paint,
                                           std::size_t columns);

/// Why an algorithm is as it is: the idea, when it wins, how far it is from the bound.
[[nodiscard]] std::string reason_story(std::string_view algorithm, const render::Paint& paint,
                                       std::size_t columns);

}  // namespace tutti::cli
