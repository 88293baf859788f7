#pragma once

#include <string>

#include <tutti/schedule/contract.hpp>

namespace tutti::cli {

/// A collective as data: definition, boxes, dual, compositions, bounds and algorithms. Requires:
/// `contract` is a render::boxed_contract().
[[nodiscard]] std::string collective_json(const Contract& contract);

}  // namespace tutti::cli
