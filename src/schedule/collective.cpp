#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include <tutti/collective.hpp>
#include <tutti/error.hpp>

#include "core/nearest.hpp"

namespace tutti {
namespace {

constexpr std::array all{
    Collective::broadcast,      Collective::scatter,  Collective::gather,
    Collective::allgather,      Collective::reduce,   Collective::allreduce,
    Collective::reduce_scatter, Collective::alltoall, Collective::barrier,
};

constexpr std::array<std::string_view, all.size()> names{
    "broadcast", "scatter",        "gather",   "allgather", "reduce",
    "allreduce", "reduce_scatter", "alltoall", "barrier",
};

/// In lower case and without what stands between words: "All-Reduce" and "all_reduce" are the same.
std::string squeezed(std::string_view text) {
  std::string found;
  for (const char each : text) {
    if (each == '_' || each == '-' || each == ' ') continue;
    found += static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  }
  return found == "bcast" ? "broadcast" : found;
}

}  // namespace

std::span<const Collective> collectives() { return all; }

std::string_view name(Collective collective) {
  return names.at(static_cast<std::size_t>(collective));
}

Collective parse_collective(std::string_view text) {
  const auto found = std::find_if(names.begin(), names.end(), [&](std::string_view each) {
    return each == text || squeezed(each) == squeezed(text);
  });
  if (found != names.end()) return all.at(static_cast<std::size_t>(found - names.begin()));
  std::string known;
  for (const std::string_view each : names) {
    known += known.empty() ? "" : ", ";
    known += each;
  }
  throw Error(ErrorCode::invalid_argument, "no collective is called '" + std::string(text) + "'." +
                                               did_you_mean(text, names) + " There are: " + known +
                                               ".");
}

bool has_root(Collective collective) {
  return collective == Collective::broadcast || collective == Collective::scatter ||
         collective == Collective::gather || collective == Collective::reduce;
}

bool is_reduction(Collective collective) {
  return collective == Collective::reduce || collective == Collective::allreduce ||
         collective == Collective::reduce_scatter || collective == Collective::barrier;
}

bool has_block_per_rank(Collective collective) {
  return collective == Collective::scatter || collective == Collective::gather ||
         collective == Collective::allgather || collective == Collective::reduce_scatter;
}

Collective dual(Collective collective) {
  switch (collective) {
    case Collective::broadcast:
      return Collective::reduce;
    case Collective::reduce:
      return Collective::broadcast;
    case Collective::scatter:
      return Collective::gather;
    case Collective::gather:
      return Collective::scatter;
    case Collective::allgather:
      return Collective::reduce_scatter;
    case Collective::reduce_scatter:
      return Collective::allgather;
    case Collective::allreduce:
    case Collective::alltoall:
    case Collective::barrier:
      break;
  }
  throw Error(ErrorCode::unsupported,
              std::string(name(collective)) +
                  " has no dual; those with one are broadcast, reduce, scatter, gather, allgather, "
                  "reduce_scatter");
}

}  // namespace tutti
