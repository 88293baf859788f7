#pragma once

#include <cstdint>

#include <tutti/network/network.hpp>

namespace tutti {

/// A network whose optimum() holds for ranks that send at most `ports` messages and receive at most
/// `ports` messages at a time; 0: no limit.
///
/// Each message leaves its rank over one link. So its rank sends no faster than its `ports` fastest
/// links out together, and receives no faster than its `ports` fastest links in. A rank that has
/// more links than that is moved behind a switch that has its links, and is joined to it at those
/// rates: what other ranks send through it is not limited.
[[nodiscard]] Network limit_ports(const Network& network, std::uint32_t ports);

}  // namespace tutti
