#pragma once

#include <cstdint>
#include <string>

#include <tutti/export.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// A hash over the contract and all steps, but not the name. The same on every machine and in every
/// version of tutti; docs/schedule-json.md specifies it. Never zero.
[[nodiscard]] TUTTI_API std::uint64_t content_hash(const Schedule& schedule);

/// The hash as 16 hexadecimal digits.
[[nodiscard]] TUTTI_API std::string hash_text(std::uint64_t hash);

}  // namespace tutti
