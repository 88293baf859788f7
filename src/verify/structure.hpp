#pragma once

#include <tutti/schedule/schedule.hpp>

#include "schedule/messages.hpp"
#include "verify/findings.hpp"

namespace tutti {

/// Finds invalid steps. All other checks rely on there being none.
void check_form(const Schedule& schedule, Findings& findings);

/// Finds messages whose two ends do not match.
void check_pairing(const Schedule& schedule, const Messages& messages, Findings& findings);

/// Finds messages whose two ends are in different rounds.
void check_rounds(const Schedule& schedule, const Messages& messages, Findings& findings);

}  // namespace tutti
