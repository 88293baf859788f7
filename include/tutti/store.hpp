#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/exchange.hpp>
#include <tutti/export.hpp>
#include <tutti/rank.hpp>

namespace tutti {

/// A key-value store that all ranks can reach: torch's TCPStore, etcd, Redis, a folder of files.
class TUTTI_API Store {
 public:
  virtual ~Store();

  virtual void set(const std::string& key, const std::string& value) = 0;
  /// Waits until the key is set. May throw, for example after a timeout: create() passes it on.
  [[nodiscard]] virtual std::string get(const std::string& key) = 0;
};

/// An Exchange through a Store. Rank 0 collects the texts and distributes them, so a round takes
/// about two operations per rank. Keys begin with `prefix`, which must be unique to this group.
class TUTTI_API StoreExchange final : public Exchange {
 public:
  /// The store must outlive the exchange.
  StoreExchange(Store& store, std::string prefix, Rank rank, std::uint32_t ranks);

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& text) override;

 private:
  Store& store_;
  std::string prefix_;
  std::uint32_t rank_;
  std::uint32_t ranks_;
  std::uint32_t round_ = 0;
};

}  // namespace tutti
