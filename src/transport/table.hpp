#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tutti/exchange.hpp>

#include "net/contact.hpp"
#include "net/handshake.hpp"
#include "net/socket.hpp"
#include "transport/memory/doorbells.hpp"
#include "transport/patience.hpp"
#include "transport/transport.hpp"

namespace tutti {

/// Where a member of a fabric is: what decides by which transport others reach it.
struct Whereabouts {
  std::string host;     ///< The same for all processes that can share memory.
  std::string network;  ///< The same for all that reach each other by the loopback interface.
  std::string name;     ///< Of the host, for people.
  int pid = 0;
  int heap_fd = -1;             ///< Of the process's shared heap; -1 if it has none.
  bool is_one_process = false;  ///< All members are threads of one process.
};

/// What a transport is opened for.
struct TransportRequest {
  Exchange& exchange;
  std::uint32_t self;
  std::span<const Whereabouts> members;
  /// Which members this one reaches by the transport, itself among them, in order.
  std::vector<std::uint32_t> group;
  Patience patience;
  /// Another port sleeps on descriptors beside this transport's: see Port::WokenBy.
  std::shared_ptr<Doorbells> doorbells;
  /// Whether the process of a member has ended.
  std::function<bool(std::uint32_t member)> has_ended;
  /// How others reach this member over the network; asks the exchange.
  struct Door {
    std::vector<Contact> contacts{};
    Socket listener{};
    Secret secret{};
    std::string group{};
  };
  std::function<Door()> open_door;
};

/// A row of the table of transports.
struct TransportRow {
  std::string_view name;
  std::string_view summary;
  /// Whether two members can be joined by it.
  bool (*reaches)(const Whereabouts& a, const Whereabouts& b);
  /// Opens it, on all members of the fabric together. If that fails on any of them, `trouble` says
  /// why, to all alike, and nobody has it.
  std::unique_ptr<Transport> (*open)(const TransportRequest& request, std::string& trouble);
};

/// All transports, the fastest first: two members are joined by the first that reaches both.
[[nodiscard]] std::span<const TransportRow> transports();

}  // namespace tutti
