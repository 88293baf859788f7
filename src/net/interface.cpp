#include "net/interface.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include <tutti/error.hpp>

#include "core/reject.hpp"

namespace tutti {
namespace {

bool is_link_local(const Endpoint& endpoint) {
  if (endpoint.family() != AF_INET6) return false;
  const auto* const address = reinterpret_cast<const sockaddr_in6*>(endpoint.address());
  return IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr);
}

/// True if a filter in the syntax of NCCL_SOCKET_IFNAME selects this interface.
bool takes(std::string_view filter, std::string_view name) {
  if (filter.empty()) return true;
  const bool inverted = filter.front() == '^';
  if (inverted) filter.remove_prefix(1);
  const bool exact = filter.starts_with('=');
  if (exact) filter.remove_prefix(1);
  bool named = false;
  while (!named && !filter.empty()) {
    const std::string_view word = filter.substr(0, filter.find(','));
    filter.remove_prefix(std::min(filter.size(), word.size() + 1));
    named = !word.empty() && (exact ? name == word : name.starts_with(word));
  }
  return named != inverted;
}

std::string names_of(std::span<const Interface> interfaces) {
  std::string names;
  for (const Interface& each : interfaces) {
    const std::string entry = each.name + " (" + each.address.text() + ")";
    names += (names.empty() ? "" : ", ") + entry;
  }
  return names.empty() ? "none" : names;
}

/// Lower values are tried first. Docker bridges have the same addresses on every host, so a rank
/// that dials one reaches its own host.
int remoteness(const Interface& interface) {
  if (interface.address.is_loopback()) return 2;
  return interface.name.starts_with("docker") ? 1 : 0;
}

}  // namespace

std::vector<Interface> interfaces_up() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) {
    throw Error(ErrorCode::internal,
                "cannot list the network interfaces: " + std::generic_category().message(errno));
  }
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, &freeifaddrs);
  std::vector<Interface> found;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    if (each->ifa_addr->sa_family == AF_INET) {
      found.push_back({each->ifa_name, Endpoint(each->ifa_addr, sizeof(sockaddr_in))});
    } else if (each->ifa_addr->sa_family == AF_INET6) {
      found.push_back({each->ifa_name, Endpoint(each->ifa_addr, sizeof(sockaddr_in6))});
    }
  }
  return found;
}

std::vector<Endpoint> addresses_of(std::span<const Interface> interfaces, std::string_view filter) {
  std::vector<Interface> taken;
  for (const Interface& each : interfaces) {
    if (takes(filter, each.name)) taken.push_back(each);
  }
  if (taken.empty()) {
    reject("the interface filter '" + std::string(filter) +
           "' leaves no address of this host; it has " + names_of(interfaces) +
           "; name one of them in TUTTI_SOCKET_IFNAME or the option 'interfaces'");
  }
  // A link-local address is only valid with an interface name, and that differs between hosts.
  const auto reaches_far = [](const Interface& each) {
    return !each.address.is_loopback() && !is_link_local(each.address);
  };
  if (std::any_of(taken.begin(), taken.end(), reaches_far)) {
    std::erase_if(taken, [](const Interface& each) { return is_link_local(each.address); });
  }
  std::stable_sort(taken.begin(), taken.end(), [](const Interface& a, const Interface& b) {
    return remoteness(a) < remoteness(b);
  });
  std::vector<Endpoint> addresses;
  addresses.reserve(taken.size());
  for (const Interface& each : taken) addresses.push_back(each.address);
  return addresses;
}

std::vector<Endpoint> own_addresses(std::string_view filter) {
  return addresses_of(interfaces_up(), filter);
}

}  // namespace tutti
