#pragma once

#include <memory>

#include <tutti/exchange.hpp>

#include "core/clock.hpp"
#include "rendezvous/environment.hpp"

namespace tutti {

/// Opens the rendezvous that the launch provides. The first all_gather() may take until `deadline`,
/// each later one as long as that was. Throws what TcpRoot, TcpMember and PmiSession throw.
[[nodiscard]] std::unique_ptr<Exchange> open_exchange(const Launch& launch,
                                                      Clock::time_point deadline);

}  // namespace tutti
