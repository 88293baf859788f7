#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/socket.hpp"

namespace tutti {

/// One address of a network interface.
struct Interface {
  std::string name;
  Endpoint address;
};

/// Every address of every interface of this host that is up.
[[nodiscard]] std::vector<Interface> interfaces_up();

/// The addresses that a filter selects, loopback last. The filter has the syntax of
/// NCCL_SOCKET_IFNAME: prefixes separated by commas, "=" for exact names, "^" to exclude.
/// Throws invalid_argument that lists the interfaces if the filter leaves none.
[[nodiscard]] std::vector<Endpoint> addresses_of(std::span<const Interface> interfaces,
                                                 std::string_view filter);

/// The addresses of this host that a filter selects.
[[nodiscard]] std::vector<Endpoint> own_addresses(std::string_view filter);

}  // namespace tutti
