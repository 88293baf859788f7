#include "transport/table.hpp"

#include <algorithm>
#include <array>

#include "transport/inproc/open.hpp"
#include "transport/shm/open.hpp"
#include "transport/tcp/open.hpp"

namespace tutti {
namespace {

constexpr Patience polls_memory{.spins = 5000, .yields = 100};
constexpr Patience polls_memory_by_turns{.spins = 0, .yields = 200};
// Polling a socket costs a hundred times as much: after a few polls, offering the core to others
// costs little. Ranks that do not share memory do not see whether they share cores.
constexpr Patience polls_sockets{.spins = 12, .yields = 1000};
constexpr Patience polls_sockets_by_turns{.spins = 0, .yields = 20};

}  // namespace

std::span<const TransportRow> transports() {
  static constexpr std::array rows{
      TransportRow{.name = "inproc",
                   .choice = "shm",
                   .medium = "threads of one process",
                   .shares_memory = true,
                   .roomy = polls_memory,
                   .crowded = polls_memory_by_turns,
                   .reaches = inproc::reaches,
                   .open = inproc::open},
      TransportRow{.name = "shm",
                   .choice = "shm",
                   .medium = "shared memory",
                   .shares_memory = true,
                   .maps_heaps = true,
                   .roomy = polls_memory,
                   .crowded = polls_memory_by_turns,
                   .reaches = shm::reaches,
                   .open = shm::open},
      TransportRow{.name = "tcp",
                   .choice = "tcp",
                   .medium = "TCP",
                   .shares_memory = false,
                   .roomy = polls_sockets,
                   .crowded = polls_sockets_by_turns,
                   .reaches = tcp::reaches,
                   .open = tcp::open},
  };
  return rows;
}

std::vector<std::string_view> transport_choices() {
  std::vector<std::string_view> choices;
  for (const TransportRow& row : transports()) {
    if (std::find(choices.begin(), choices.end(), row.choice) == choices.end()) {
      choices.push_back(row.choice);
    }
  }
  return choices;
}

}  // namespace tutti
