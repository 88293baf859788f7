#include <tutti/error.hpp>
#include <tutti/store.hpp>

#include "core/packed_texts.hpp"

namespace tutti {
Store::~Store() = default;

StoreExchange::StoreExchange(Store& store, std::string prefix, std::uint32_t rank,
                             std::uint32_t ranks)
    : store_(store), prefix_(std::move(prefix)), rank_(rank), ranks_(ranks) {
  if (rank < ranks) return;
  throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(rank) + " of " +
                                               std::to_string(ranks) +
                                               ": a rank must be below the number of ranks");
}

std::vector<std::string> StoreExchange::all_gather(const std::string& text) {
  const std::string round = prefix_ + "/" + std::to_string(round_++) + "/";
  const std::string all = round + "all";
  if (rank_ > 0) {
    store_.set(round + std::to_string(rank_), text);
    if (auto texts = unpack(store_.get(all))) return *std::move(texts);
    throw Error(ErrorCode::invalid_argument,
                "the store holds a value of another program at " + all +
                    ": use one prefix for each group, and a new one when ranks start again");
  }
  std::vector<std::string> texts{text};
  for (std::uint32_t r = 1; r < ranks_; ++r) {
    texts.push_back(store_.get(round + std::to_string(r)));
  }
  if (ranks_ > 1) store_.set(all, pack(texts));
  return texts;
}

}  // namespace tutti
