#include "transport/table.hpp"

#include <array>

#include "transport/inproc/open.hpp"
#include "transport/shm/open.hpp"
#include "transport/tcp/open.hpp"

namespace tutti {

std::span<const TransportRow> transports() {
  static constexpr std::array rows{
      TransportRow{"inproc", "threads of one process", inproc::reaches, inproc::open},
      TransportRow{"shm", "processes of one host, by shared memory", shm::reaches, shm::open},
      TransportRow{"tcp", "any two hosts, by TCP", tcp::reaches, tcp::open},
  };
  return rows;
}

}  // namespace tutti
