#pragma once

#include <string>
#include <string_view>

#include <tutti/export.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// Reads an algorithm of MSCCL, Microsoft's collective communication library, in its XML format
/// (docs/msccl.md): thread blocks, channels, dependences and scratch become rounds and variants of
/// chunks. Throws invalid_argument that names the line and the reason, also if steps that no
/// dependence orders touch the same data, or if steps wait for each other; and unsupported for
/// collectives that tutti does not have. The schedule may still be incorrect: check it with
/// verify().
[[nodiscard]] TUTTI_API Schedule schedule_from_msccl(std::string_view xml);

/// Writes a schedule in MSCCL's XML format, for calls out of place: each rank has a thread block
/// for every other rank that it sends to or receives from, and one for local steps. Throws
/// unsupported if the schedule exceeds the limits of MSCCL. Requires: verify() accepts the
/// schedule.
[[nodiscard]] TUTTI_API std::string to_msccl(const Schedule& schedule);

}  // namespace tutti
