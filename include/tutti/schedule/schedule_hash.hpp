#pragma once

#include <cstdint>
#include <string>

#include <tutti/export.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// A number that tells schedules apart by what they do: over the contract and all steps, not the
/// name. The same on every machine and in every version of tutti; docs/schedule-json.md says how it
/// is made. Never zero.
[[nodiscard]] TUTTI_API std::uint64_t content_hash(const Schedule& schedule);

/// As people read it: 16 hexadecimal digits.
[[nodiscard]] TUTTI_API std::string hash_text(std::uint64_t hash);

}  // namespace tutti
