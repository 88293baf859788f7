#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/exchange.hpp>
#include <tutti/export.hpp>

namespace tutti {

/// Keys and values that all ranks reach: torch's TCPStore, etcd, Redis, a folder of files.
class TUTTI_API Store {
 public:
  virtual ~Store();

  virtual void set(const std::string& key, const std::string& value) = 0;
  /// Waits until the key is set. Throws what the caller of create() is to see if it never is.
  [[nodiscard]] virtual std::string get(const std::string& key) = 0;
};

/// An exchange by a store. Rank 0 collects the texts and hands them to all, so each round takes
/// about two operations for each rank. Keys begin with `prefix`, which no other group may use.
class TUTTI_API StoreExchange final : public Exchange {
 public:
  /// The store must outlive this.
  StoreExchange(Store& store, std::string prefix, std::uint32_t rank, std::uint32_t ranks);

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& text) override;

 private:
  Store& store_;
  std::string prefix_;
  std::uint32_t rank_;
  std::uint32_t ranks_;
  std::uint32_t round_ = 0;
};

}  // namespace tutti
