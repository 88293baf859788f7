#include "api/group/checked_exchange.hpp"

#include <tutti/error.hpp>

#include "core/quantity.hpp"

namespace tutti {

std::vector<std::string> CheckedExchange::all_gather(const std::string& text) {
  ++round_;
  std::vector<std::string> texts = exchange_.all_gather(text);
  if (texts.size() == ranks_) return texts;
  throw Error(ErrorCode::invalid_argument,
              "rank " + std::to_string(self_) +
                  ": the exchange that Communicator::create() was given returned " +
                  in_plural(texts.size(), "text") + " in round " + std::to_string(round_) +
                  ", not " + std::to_string(ranks_) +
                  ": its all_gather() must return one text for each rank, in order of rank");
}

}  // namespace tutti
