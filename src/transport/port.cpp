#include "transport/port.hpp"

#include <algorithm>
#include <utility>

namespace tutti {

bool Port::wait_until(std::uint32_t idle, Clock::time_point until, Clock::time_point deadline) {
  constexpr std::uint32_t between_hooks = 16;
  const Outlook outlook = progress(idle, deadline);
  if (hook_ && (outlook == Outlook::later || idle % between_hooks == 0)) {
    until = std::min(until, Clock::now() + hook_());
  }
  if (outlook == Outlook::moved) return false;
  if (outlook == Outlook::soon) {
    if (std::exchange(is_armed_, false)) arm(WokenBy::nobody);
    return false;
  }
  if (!std::exchange(is_armed_, true)) {
    arm(WokenBy::itself);
    return false;
  }
  sleep(until);
  arm(WokenBy::itself);
  return true;
}

}  // namespace tutti
