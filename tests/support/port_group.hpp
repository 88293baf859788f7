#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transport/table.hpp"

namespace tutti::test {

/// Ranks as threads of this process, joined by transports that are opened as a communicator opens
/// them: by their rows in the table.
class PortGroup {
 public:
  /// The name of a row, "erratic", or "mixed": the halves of the ranks share memory and are joined
  /// by a network.
  PortGroup(const std::string& kind, std::uint32_t ranks);
  ~PortGroup();

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(ends_.size()); }
  [[nodiscard]] Port& port(std::uint32_t rank);
  /// The ports of another communicator of all ranks.
  [[nodiscard]] std::vector<std::unique_ptr<Port>> another();
  /// Calls work(rank) for every rank concurrently, and rethrows the first exception.
  void all(const std::function<void(std::uint32_t)>& work) const;

 private:
  struct End;

  void open_transports(std::uint32_t rank, const std::string& kind, Exchange& exchange);
  [[nodiscard]] std::unique_ptr<Port> open_port(std::uint32_t rank, Exchange& exchange,
                                                std::uint64_t context);

  std::vector<std::unique_ptr<End>> ends_;
  std::uint64_t contexts_ = 0;
};

/// All kinds of groups.
[[nodiscard]] std::vector<std::string> port_group_kinds();

}  // namespace tutti::test
