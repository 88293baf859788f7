#include "peers/verification.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "peers/inputs.hpp"

namespace peers {
namespace {

constexpr std::size_t period = 4099;
constexpr std::byte poison{0xa5};

std::int64_t draw(const Case& c, std::uint64_t seed, int rank, std::size_t place) {
  const std::uint64_t h = hash(rank, place) ^ hash(static_cast<int>(seed % 1'000'000), place);
  return c.op == Op::prod ? factor(rank, h) : static_cast<std::int64_t>(h % 7);
}

std::int64_t combined(Op op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Op::none:
    case Op::sum:
      return a + b;
    case Op::prod:
      return a * b;
    case Op::min:
      return std::min(a, b);
    case Op::max:
      return std::max(a, b);
    case Op::band:
      return a & b;
    case Op::bor:
      return a | b;
    case Op::bxor:
      return a ^ b;
  }
  return a;
}

void encode(DType dtype, std::int64_t value, std::byte* place) {
  if (dtype == DType::f16) {
    const std::uint16_t bits = half_bits(static_cast<int>(value));
    std::memcpy(place, &bits, sizeof bits);
  } else if (dtype == DType::f32) {
    const auto number = static_cast<float>(value);
    std::memcpy(place, &number, sizeof number);
  } else if (dtype == DType::f64) {
    const auto number = static_cast<double>(value);
    std::memcpy(place, &number, sizeof number);
  } else {
    // Integers wrap; little endian.
    std::memcpy(place, &value, size_of(dtype));
  }
}

/// One period of numbers, as bytes of their type.
class Numbers {
 public:
  /// The numbers of one rank.
  Numbers(const Case& c, std::uint64_t seed, int rank) : Numbers(c, seed, rank, rank + 1) {}

  /// The combined numbers of several ranks.
  Numbers(const Case& c, std::uint64_t seed, int first, int end)
      : each_(size_of(c.dtype)), bytes_(period * each_) {
    for (std::size_t place = 0; place < period; ++place) {
      std::int64_t value = draw(c, seed, first, place);
      for (int rank = first + 1; rank < end; ++rank) {
        value = combined(c.op, value, draw(c, seed, rank, place));
      }
      encode(c.dtype, value, bytes_.data() + place * each_);
    }
  }

  /// Calls visit(expected, offset, elements) for consecutive pieces of the `count` elements from
  /// `begin` on.
  template <class Visit>
  void for_each_stretch(std::size_t begin, std::size_t count, const Visit& visit) const {
    for (std::size_t done = 0; done < count;) {
      const std::size_t place = (begin + done) % period;
      const std::size_t stretch = std::min(period - place, count - done);
      visit(bytes_.data() + place * each_, done * each_, stretch);
      done += stretch;
    }
  }

  void write(std::byte* to, std::size_t count) const {
    for_each_stretch(0, count, [&](const std::byte* from, std::size_t at, std::size_t elements) {
      std::memcpy(to + at, from, elements * each_);
    });
  }

  [[nodiscard]] std::size_t differing(const std::byte* found, std::size_t begin,
                                      std::size_t count) const {
    std::size_t wrong = 0;
    for_each_stretch(begin, count,
                     [&](const std::byte* want, std::size_t at, std::size_t elements) {
                       if (std::memcmp(found + at, want, elements * each_) == 0) return;
                       for (std::size_t i = 0; i < elements; ++i) {
                         if (std::memcmp(found + at + i * each_, want + i * each_, each_) != 0)
                           ++wrong;
                       }
                     });
    return wrong;
  }

 private:
  std::size_t each_;
  std::vector<std::byte> bytes_;
};

/// The wrong elements of this rank's output.
std::size_t own_wrong(const Case& c, int ranks, int rank, std::uint64_t seed,
                      const std::byte* output) {
  if (!has_output(c, rank)) return 0;
  const std::size_t own_block = static_cast<std::size_t>(rank) * c.count;
  const std::size_t block_bytes = c.count * size_of(c.dtype);
  const auto of_every_rank = [&](std::size_t begin) {
    std::size_t wrong = 0;
    for (int from = 0; from < ranks; ++from) {
      wrong +=
          Numbers(c, seed, from)
              .differing(output + static_cast<std::size_t>(from) * block_bytes, begin, c.count);
    }
    return wrong;
  };
  switch (c.collective) {
    case Collective::broadcast:
      return Numbers(c, seed, c.root).differing(output, 0, c.count);
    case Collective::scatter:
      return Numbers(c, seed, c.root).differing(output, own_block, c.count);
    case Collective::gather:
    case Collective::allgather:
      return of_every_rank(0);
    case Collective::alltoall:
      return of_every_rank(own_block);
    case Collective::reduce:
    case Collective::allreduce:
      return Numbers(c, seed, 0, ranks).differing(output, 0, c.count);
    case Collective::reduce_scatter:
      return Numbers(c, seed, 0, ranks).differing(output, own_block, c.count);
    default:
      return 0;
  }
}

}  // namespace

std::optional<std::size_t> count_wrong(Peer& peer, const Call& call, std::uint64_t seed) {
  const Case& c = call.what;
  const bool whole = c.collective == Collective::broadcast || c.collective == Collective::reduce ||
                     c.collective == Collective::allreduce;
  if (call.in_place() && !whole) return std::nullopt;
  std::fill_n(call.output, output_elements(c, peer.ranks(), peer.rank()) * size_of(c.dtype),
              poison);
  Numbers(c, seed, peer.rank()).write(call.input, input_elements(c, peer.ranks(), peer.rank()));
  peer.prepare(call)();
  // Each rank contributes its own count; the others are 0.
  std::vector<double> wrong(static_cast<std::size_t>(peer.ranks()));
  wrong[static_cast<std::size_t>(peer.rank())] =
      static_cast<double>(own_wrong(c, peer.ranks(), peer.rank(), seed, call.output));
  peer.maximum(wrong);
  double sum = 0;
  for (const double each : wrong) sum += each;
  return static_cast<std::size_t>(sum);
}

}  // namespace peers
