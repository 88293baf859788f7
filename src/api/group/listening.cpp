#include "api/group/listening.hpp"

#include <optional>
#include <string>
#include <vector>

#include <tutti/error.hpp>

#include "api/group/surroundings.hpp"
#include "core/json_value.hpp"
#include "core/packed_texts.hpp"
#include "net/interface.hpp"

namespace tutti {
namespace {

/// The addresses at which other hosts can reach this one. The loopback address is left out: on
/// another host it means that host. Where the system does not tell which network this is, all
/// members may be on one after all, and loopback is tried last.
std::vector<Endpoint> reachable_addresses(const Roster& roster, const FabricSettings& settings) {
  std::vector<Endpoint> addresses = own_addresses(settings.interfaces);
  if (is_known_network(roster.own().network)) {
    std::erase_if(addresses, [](const Endpoint& each) { return each.is_loopback(); });
  }
  if (!addresses.empty()) return addresses;
  throw Error(ErrorCode::invalid_argument,
              "rank " + std::to_string(roster.self()) + " on " + roster.own().name +
                  " has no network address that other hosts can reach: bring an interface up, or "
                  "check TUTTI_SOCKET_IFNAME");
}

/// What a rank tells the others of its door, as texts of an exchange.
struct Announcement {
  /// The group's name, which no other fabric has, and a secret, which is used if the user gave
  /// none. Rank 0 generates them.
  std::string group{};
  std::string secret{};
  std::string endpoints{};  ///< A JSON array.

  [[nodiscard]] static Announcement of(std::uint32_t self, const Json& endpoints) {
    constexpr std::size_t name_length = 16;
    Announcement own{.endpoints = json_text(endpoints)};
    if (self > 0) return own;
    own.group = Secret::random().bytes.substr(0, name_length);
    own.secret = Secret::random().bytes;
    return own;
  }
  [[nodiscard]] std::string text() const {
    return pack(std::vector<std::string>{group, secret, endpoints});
  }
  [[nodiscard]] static Announcement read(const std::string& text) {
    const std::optional<std::vector<std::string>> parts = unpack(text);
    constexpr std::size_t count = 3;
    if (!parts || parts->size() != count) {
      throw Error(ErrorCode::mismatch,
                  "the addresses of a rank are malformed: use the same version of tutti on all "
                  "ranks");
    }
    return {.group = (*parts)[0], .secret = (*parts)[1], .endpoints = (*parts)[2]};
  }
};

}  // namespace

TransportRequest::Door listen(Exchange& exchange, const Roster& roster,
                              const FabricSettings& settings, const Endpoint& within_host) {
  TransportRequest::Door door;
  std::vector<Endpoint> addresses;
  if (roster.is_one_network()) {
    door.listener = listen_on(within_host, settings.ports);
    addresses = {within_host};
  } else {
    if (settings.secret.bytes.empty() && !settings.trusts_exchange) {
      throw Error(ErrorCode::invalid_argument,
                  "ranks on several hosts need a secret to authenticate each other: set "
                  "TUTTI_SECRET to the same long random text on all of them");
    }
    addresses = reachable_addresses(roster, settings);
    door.listener = listen_on_all(addresses, settings.ports);
  }
  const Endpoint bound = bound_to(door.listener);
  Json endpoints = Json::array();
  for (const Endpoint& each : addresses) {
    endpoints.push_back(each.family() == AF_UNIX ? each.text()
                                                 : each.with_port(bound.port()).text());
  }
  door.secret = settings.secret;
  const std::string own = Announcement::of(roster.self(), endpoints).text();
  for (const std::string& text : exchange.all_gather(own)) {
    const auto member = static_cast<std::uint32_t>(door.contacts.size());
    const Announcement theirs = Announcement::read(text);
    if (member == 0) {
      door.group = theirs.group;
      if (door.secret.bytes.empty()) door.secret.bytes = theirs.secret;
    }
    Contact contact{.host = roster[member].name, .endpoints = {}};
    for (const JsonReader each : JsonReader::parse(theirs.endpoints).elements()) {
      contact.endpoints.push_back(Endpoint::parse(each.get<std::string>()));
    }
    door.contacts.push_back(std::move(contact));
  }
  return door;
}

}  // namespace tutti
