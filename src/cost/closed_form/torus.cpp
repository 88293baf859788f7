#include "cost/closed_form/torus.hpp"

#include <algorithm>
#include <vector>

namespace tutti::formula {
namespace {

/// The chunks per message in each round of an allgather, for one part of the data: rings along each
/// dimension in the given order. A ring passes on all that the rings before have gathered.
std::vector<std::uint64_t> gathering(const std::vector<std::uint32_t>& sizes) {
  std::vector<std::uint64_t> chunks;
  std::uint64_t held = 1;
  for (const std::uint32_t size : sizes) {
    chunks.insert(chunks.end(), size - 1, held);
    held *= size;
  }
  return chunks;
}

std::uint64_t parts(const Problem& problem) {
  return std::uint64_t{problem.values[0]} * problem.shape.dimensions.size();
}

std::uint64_t rounds_one_way(const Shape& shape) {
  std::uint64_t rounds = 0;
  for (const std::uint32_t size : shape.dimensions) rounds += size - 1;
  return rounds;
}

/// The dimensions from that of part number `part` on, in turn.
std::vector<std::uint32_t> order_of(const Problem& problem, std::uint64_t part) {
  std::vector<std::uint32_t> sizes = problem.shape.dimensions;
  const auto start = static_cast<std::ptrdiff_t>(part / problem.values[0]);
  std::rotate(sizes.begin(), sizes.begin() + start, sizes.end());
  return sizes;
}

/// The length of a message in chunks, and whether it is added.
struct Message {
  std::uint64_t chunks;
  bool adds;
};

/// The messages of each part, round by round.
using Rounds = std::vector<std::vector<Message>>;

void append(std::vector<Message>& part, const std::vector<std::uint64_t>& chunks, bool adds) {
  for (const std::uint64_t each : chunks) part.push_back({.chunks = each, .adds = adds});
}

Rounds allgather_rounds(const Problem& problem) {
  Rounds all(parts(problem));
  for (std::uint64_t part = 0; part < all.size(); ++part) {
    append(all[part], gathering(order_of(problem, part)), false);
  }
  return all;
}

/// The dual of the allgather: backwards, and in a round the last part first.
Rounds reduce_scatter_rounds(const Problem& problem) {
  Rounds all(parts(problem));
  for (std::uint64_t part = 0; part < all.size(); ++part) {
    std::vector<std::uint64_t> chunks = gathering(order_of(problem, all.size() - 1 - part));
    std::reverse(chunks.begin(), chunks.end());
    append(all[part], chunks, true);
  }
  return all;
}

/// The block that a ring leaves to a rank is divided among the ranks of the next, and back.
Rounds allreduce_rounds(const Problem& problem) {
  Rounds all(parts(problem));
  for (std::uint64_t part = 0; part < all.size(); ++part) {
    std::vector<std::uint32_t> sizes = order_of(problem, part);
    std::reverse(sizes.begin(), sizes.end());
    std::vector<std::uint64_t> chunks = gathering(sizes);
    std::reverse(chunks.begin(), chunks.end());
    append(all[part], chunks, true);
    std::reverse(chunks.begin(), chunks.end());
    append(all[part], chunks, false);
  }
  return all;
}

/// With unlimited ports the parts do not delay each other.
double slowest_part(const Rounds& rounds, double chunk, const Model& model) {
  double slowest = 0;
  for (const std::vector<Message>& part : rounds) {
    double seconds = 0;
    for (const Message& each : part) {
      const double bytes = static_cast<double>(each.chunks) * chunk;
      seconds += model.message(bytes) + (each.adds ? model.sum(bytes) : 0);
    }
    slowest = std::max(slowest, seconds);
  }
  return slowest;
}

/// With one port the parts take turns at the port and at adding, always in the same order. All
/// ranks do the same at the same time, so one rank represents all. It is simulated round by round,
/// because the waiting depends on the message lengths: O(parts·Σsᵢ) steps, the number of its
/// messages.
double in_turns(const Rounds& rounds, double chunk, const Model& model) {
  std::vector<double> ready(rounds.size());  // The time at which each part can continue.
  double port_free = 0;
  double adder_free = 0;
  for (std::size_t round = 0; round < rounds.front().size(); ++round) {
    for (std::size_t part = 0; part < rounds.size(); ++part) {
      const Message& each = rounds[part][round];
      const double bytes = static_cast<double>(each.chunks) * chunk;
      port_free = std::max(ready[part], port_free) + model.message(bytes);
      if (each.adds) adder_free = std::max(port_free, adder_free) + model.sum(bytes);
      ready[part] = each.adds ? adder_free : port_free;
    }
  }
  return *std::max_element(ready.begin(), ready.end());
}

double seconds(const Rounds& rounds, const Problem& problem, double n, const Model& model) {
  const double chunk = n / static_cast<double>(problem.ranks * rounds.size());
  return model.one_port ? in_turns(rounds, chunk, model) : slowest_part(rounds, chunk, model);
}

/// Of an allgather: all ranks do the same.
Figures one_way(const Problem& problem, std::uint64_t n) {
  const std::uint64_t p = problem.ranks;
  const std::uint64_t chunk = n / (p * parts(problem));
  const std::uint64_t sent = parts(problem) * (p - 1) * chunk;  // By each rank.
  // Messages only get longer.
  std::uint64_t in_last_round = 0;
  for (const std::vector<Message>& part : allgather_rounds(problem)) {
    in_last_round += part.back().chunks;
  }
  return {.rounds = static_cast<std::uint32_t>(rounds_one_way(problem.shape)),
          .messages = p * parts(problem) * rounds_one_way(problem.shape),
          .bytes = p * sent,
          .most_sent = sent,
          .most_received = sent,
          .most_in_a_round = in_last_round * chunk};
}

}  // namespace

Figures torus_allgather_figures(const Problem& problem, std::uint64_t n) {
  return one_way(problem, n);
}

Figures torus_reduce_scatter_figures(const Problem& problem, std::uint64_t n) {
  Figures figures = one_way(problem, n);
  figures.reduced = figures.bytes;
  figures.most_reduced = figures.most_sent;
  return figures;
}

Figures torus_allreduce_figures(const Problem& problem, std::uint64_t n) {
  Figures figures = torus_reduce_scatter_figures(problem, n);
  figures.rounds *= 2;
  figures.messages *= 2;
  figures.bytes *= 2;
  figures.most_sent *= 2;
  figures.most_received *= 2;
  // Messages only get shorter in the first half, and the second half has the same lengths.
  std::uint64_t in_first_round = 0;
  for (const std::vector<Message>& part : allreduce_rounds(problem)) {
    in_first_round += part.front().chunks;
  }
  figures.most_in_a_round = in_first_round * (n / (problem.ranks * parts(problem)));
  return figures;
}

double torus_allgather(const Problem& problem, double n, const Model& model) {
  return seconds(allgather_rounds(problem), problem, n, model);
}

double torus_reduce_scatter(const Problem& problem, double n, const Model& model) {
  return seconds(reduce_scatter_rounds(problem), problem, n, model);
}

double torus_allreduce(const Problem& problem, double n, const Model& model) {
  return seconds(allreduce_rounds(problem), problem, n, model);
}

}  // namespace tutti::formula
