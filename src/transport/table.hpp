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

/// Where a member of a fabric runs. It decides which transport connects two members.
struct Whereabouts {
  std::string host;     ///< Equal for processes that can share memory.
  std::string network;  ///< Equal for processes that share a loopback interface.
  std::string name;     ///< Host name, for messages.
  int pid = 0;
  int heap_fd = -1;             ///< Descriptor of the process's shared heap; -1 if none.
  std::uint64_t heap_file = 0;  ///< As in SharedHeap::file().
  bool is_one_process = false;  ///< True if all members are threads of one process.
};

/// The arguments for opening a transport.
struct TransportRequest {
  Exchange& exchange;
  std::uint32_t self;
  std::span<const Whereabouts> members;
  /// The members that this one reaches through the transport, including itself, in ascending order.
  std::vector<std::uint32_t> group;
  Patience patience;
  /// Set if another port, which polls descriptors, sleeps for this transport: see Port::WokenBy.
  std::shared_ptr<Doorbells> doorbells;
  /// True if the process of a member has ended.
  std::function<bool(std::uint32_t member)> has_ended;
  /// This member's listening socket, and the addresses of all members. open_door() gathers them
  /// through the exchange.
  struct Door {
    std::vector<Contact> contacts{};
    Socket listener{};
    Secret secret{};
    std::string group{};
  };
  std::function<Door()> open_door;
  /// The longest wait, when the transport is closed, for members that are slow to take what was
  /// sent to them.
  Clock::duration closing_timeout{};
};

/// A row of the table of transports: all that others know of a transport.
struct TransportRow {
  std::string_view name;
  /// What users call it, to choose it: TUTTI_TRANSPORT. Several transports may have one name.
  std::string_view choice;
  /// By what data travels, as messages say it.
  std::string_view medium;
  /// Ranks read and write each other's memory. Others reach each other over a network, where data
  /// may be encrypted.
  bool shares_memory;
  /// Ranks see only the shared heaps of each other, so that it pays to adopt ordinary memory: see
  /// AdoptedMemory.
  bool maps_heaps = false;
  /// How a rank waits that has a core of its own, and one that has not. The latter must yield the
  /// core to the ranks that it waits for.
  Patience roomy;
  Patience crowded;
  /// True if it can connect these two members.
  bool (*reaches)(const Whereabouts& a, const Whereabouts& b);
  /// Opens it, collectively on all members of the fabric. If it fails on any member, it returns
  /// null on all of them, with the reason in `trouble`.
  std::unique_ptr<Transport> (*open)(const TransportRequest& request, std::string& trouble);
};

/// All transports, fastest first. Two members use the first one that reaches both.
[[nodiscard]] std::span<const TransportRow> transports();

/// The names by which users choose transports, each once.
[[nodiscard]] std::vector<std::string_view> transport_choices();

}  // namespace tutti
