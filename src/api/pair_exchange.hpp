#pragma once

#include <vector>

#include <tutti/exchange.hpp>

#include "api/communicator_impl.hpp"

namespace tutti {

/// An exchange of cards between some ranks of a communicator, by messages between two: the first
/// of them collects the cards and hands them out.
class PairExchange final : public Exchange {
 public:
  /// `members` are ranks of the communicator, in their new order, this one among them.
  PairExchange(Communicator::Impl& communicator, std::vector<std::uint32_t> members,
               CallOptions options = {})
      : communicator_(communicator), members_(std::move(members)), options_(std::move(options)) {}

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& card) override;

 private:
  void send(const std::string& text, std::uint32_t to);
  [[nodiscard]] std::string receive(std::uint32_t from);

  Communicator::Impl& communicator_;
  std::vector<std::uint32_t> members_;
  CallOptions options_;
};

}  // namespace tutti
