#include "api/pair_exchange.hpp"

namespace tutti {

std::vector<std::string> PairExchange::all_gather(const std::string& card) {
  const std::uint32_t self = communicator_.rank();
  const std::uint32_t first = members_.front();
  std::vector<std::string> cards;
  if (self != first) {
    send(card, first);
    for (std::size_t i = 0; i < members_.size(); ++i) cards.push_back(receive(first));
    return cards;
  }
  for (const std::uint32_t member : members_) {
    cards.push_back(member == self ? card : receive(member));
  }
  for (const std::uint32_t member : members_) {
    if (member == self) continue;
    for (const std::string& each : cards) send(each, member);
  }
  return cards;
}

void PairExchange::send(const std::string& text, std::uint32_t to) {
  const std::uint64_t length = text.size();
  communicator_.run_pair({.data = &length, .bytes = sizeof length, .peer = to}, {}, options_);
  communicator_.run_pair({.data = text.data(), .bytes = text.size(), .peer = to}, {}, options_);
}

std::string PairExchange::receive(std::uint32_t from) {
  std::uint64_t length = 0;
  communicator_.run_pair({}, {.data = &length, .bytes = sizeof length, .peer = from}, options_);
  std::string text(length, '\0');
  communicator_.run_pair({}, {.data = text.data(), .bytes = text.size(), .peer = from}, options_);
  return text;
}

}  // namespace tutti
