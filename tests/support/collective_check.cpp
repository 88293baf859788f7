#include "support/collective_check.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <tutti/memory.hpp>

#include "support/fp8.hpp"
#include "support/half.hpp"

namespace tutti::test {
namespace {

std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x7FB5D329728EA185;
  x = (x ^ (x >> 27)) * 0x81DADEF4BC2DD44D;
  return x ^ (x >> 33);
}

bool is_sum(Op op) { return op == Op::sum || op == Op::avg; }

/// Small integers: every sum and product of 16 of them is exact in every dtype.
std::int64_t brought(const Trial& trial, std::uint32_t rank, std::uint64_t place) {
  const std::uint64_t hash = scramble(place * 64 + rank + 1);
  const bool is_signed = trial.dtype != DType::u8 && trial.dtype != DType::u16 &&
                         trial.dtype != DType::u32 && trial.dtype != DType::u64;
  switch (trial.op) {
    case Op::prod:
      // No sign for complex numbers, so that zero parts have none.
      if (rank % 4 == place % 4) return 2;
      return is_signed && !is_complex(trial.dtype) && hash % 2 == 0 ? -1 : 1;
    case Op::band:
      return static_cast<std::int64_t>(hash % 128 | 0x51);
    default:
      // With 16 ranks, four of them contribute to a sum: it is at most 8.
      if (size_of(trial.dtype) == 1 && is_floating(trial.dtype) && is_sum(trial.op)) {
        return rank % 4 == place % 4 ? static_cast<std::int64_t>(hash % 5) - 2 : 0;
      }
      return static_cast<std::int64_t>(hash % 8) - (is_signed ? 3 : 0);
  }
}

std::int64_t combined(Op op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Op::sum:
    case Op::avg:
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
  return 0;
}

template <class T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <class T>
void put_complex(std::byte* to, T real, T imaginary) {
  put(to, real);
  put(to + sizeof real, imaginary);
}

/// Writes `number / divisor` in the dtype. A complex number is a multiple of 1 + 2i, or of 1 for
/// products.
void encode(DType dtype, Op op, std::int64_t number, std::uint32_t divisor, std::byte* to) {
  const std::int64_t whole = number / static_cast<std::int64_t>(divisor);
  const float single = static_cast<float>(number) / static_cast<float>(divisor);
  const auto wide = static_cast<double>(number) / divisor;
  const int imaginary = op == Op::prod ? 0 : 2;
  switch (dtype) {
    case DType::i8:
      return put(to, static_cast<std::int8_t>(whole));
    case DType::u8:
      return put(to, static_cast<std::uint8_t>(whole));
    case DType::i16:
      return put(to, static_cast<std::int16_t>(whole));
    case DType::u16:
      return put(to, static_cast<std::uint16_t>(whole));
    case DType::i32:
      return put(to, static_cast<std::int32_t>(whole));
    case DType::u32:
      return put(to, static_cast<std::uint32_t>(whole));
    case DType::i64:
      return put(to, whole);
    case DType::u64:
      return put(to, static_cast<std::uint64_t>(whole));
    case DType::f16:
      return put(to, to_f16(single));
    case DType::bf16:
      return put(to, to_bf16(single));
    case DType::f8e4m3:
    case DType::f8e5m2:
      return put(to, to_f8(dtype, single));
    case DType::f32:
      return put(to, single);
    case DType::f64:
      return put(to, wide);
    case DType::complex64:
      return put_complex(to, single, static_cast<float>(imaginary) * single);
    case DType::complex128:
      return put_complex(to, wide, imaginary * wide);
  }
}

/// A buffer with guard bytes before and after it.
class Guarded {
 public:
  Guarded(std::size_t bytes, std::size_t misaligned, bool shared)
      : bytes_(bytes), begin_(guard + misaligned), total_(bytes + 2 * guard + misaligned) {
    if (shared) {
      memory_ = std::shared_ptr<std::byte>(static_cast<std::byte*>(allocate(total_)),
                                           [](std::byte* memory) { deallocate(memory); });
    } else {
      memory_ =
          std::shared_ptr<std::byte>(new std::byte[total_], std::default_delete<std::byte[]>());
    }
    std::memset(memory_.get(), 0xA5, total_);
  }

  [[nodiscard]] std::byte* data() const { return memory_.get() + begin_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] bool untouched_around() const {
    for (std::size_t i = 0; i < total_; ++i) {
      const bool inside = i >= begin_ && i < begin_ + bytes_;
      if (!inside && memory_.get()[i] != std::byte{0xA5}) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t guard = 64;
  std::size_t bytes_;
  std::size_t begin_;
  std::size_t total_;
  std::shared_ptr<std::byte> memory_;
};

/// The lengths of each rank's input and output, in elements.
class Model {
 public:
  Model(const Trial& trial, std::uint32_t self, std::uint32_t ranks)
      : trial_(trial), self_(self), ranks_(ranks) {
    for (std::uint32_t r = 0; r < ranks; ++r) {
      counts_.push_back(trial.counted ? (trial.count * (r + 1)) % (2 * trial.count + 1)
                                      : trial.count);
      // In alltoall rank s sends pair_count(s, d) to rank d.
      to_.push_back(pair_count(self, r));
      from_.push_back(pair_count(r, self));
    }
  }

  [[nodiscard]] std::uint64_t pair_count(std::uint32_t from, std::uint32_t to) const {
    return trial_.counted ? trial_.count * ((from + 2 * to) % 3) : trial_.count;
  }

  [[nodiscard]] const std::vector<std::uint64_t>& counts() const {
    return trial_.collective == Collective::alltoall ? to_ : counts_;
  }
  [[nodiscard]] const std::vector<std::uint64_t>& from_counts() const { return from_; }

  [[nodiscard]] std::vector<std::int64_t> input() const {
    switch (trial_.collective) {
      case Collective::broadcast:
        return is_root() ? numbers(self_, 0, trial_.count) : std::vector<std::int64_t>{};
      case Collective::reduce:
      case Collective::allreduce:
        return numbers(self_, 0, trial_.count);
      case Collective::scatter:
        return is_root() ? numbers(self_, 0, total(counts_)) : std::vector<std::int64_t>{};
      case Collective::gather:
      case Collective::allgather:
        return numbers(self_, 0, counts_[self_]);
      case Collective::reduce_scatter:
        return numbers(self_, 0, total(counts_));
      case Collective::alltoall:
        return numbers(self_, 0, total(to_));
      case Collective::barrier:
        break;
    }
    return {};
  }

  [[nodiscard]] std::vector<std::int64_t> output() const {
    switch (trial_.collective) {
      case Collective::broadcast:
        return numbers(trial_.root, 0, trial_.count);
      case Collective::reduce:
        return is_root() ? combination(0, trial_.count) : std::vector<std::int64_t>{};
      case Collective::allreduce:
        return combination(0, trial_.count);
      case Collective::scatter:
        return numbers(trial_.root, before(counts_, self_), counts_[self_]);
      case Collective::gather:
        return is_root() ? everyones() : std::vector<std::int64_t>{};
      case Collective::allgather:
        return everyones();
      case Collective::reduce_scatter:
        return combination(before(counts_, self_), counts_[self_]);
      case Collective::alltoall:
        return my_columns();
      case Collective::barrier:
        break;
    }
    return {};
  }

  [[nodiscard]] std::uint64_t own_block() const { return before(counts_, self_); }

 private:
  [[nodiscard]] bool is_root() const { return self_ == trial_.root; }

  [[nodiscard]] static std::uint64_t before(const std::vector<std::uint64_t>& counts,
                                            std::uint32_t rank) {
    std::uint64_t sum = 0;
    for (std::uint32_t r = 0; r < rank; ++r) sum += counts[r];
    return sum;
  }
  [[nodiscard]] static std::uint64_t total(const std::vector<std::uint64_t>& counts) {
    return before(counts, static_cast<std::uint32_t>(counts.size()));
  }

  [[nodiscard]] std::vector<std::int64_t> numbers(std::uint32_t rank, std::uint64_t begin,
                                                  std::uint64_t count) const {
    std::vector<std::int64_t> all;
    for (std::uint64_t i = 0; i < count; ++i) all.push_back(brought(trial_, rank, begin + i));
    return all;
  }
  [[nodiscard]] std::vector<std::int64_t> combination(std::uint64_t begin,
                                                      std::uint64_t count) const {
    std::vector<std::int64_t> all = numbers(0, begin, count);
    for (std::uint32_t r = 1; r < ranks_; ++r) {
      for (std::uint64_t i = 0; i < count; ++i) {
        all[i] = combined(trial_.op, all[i], brought(trial_, r, begin + i));
      }
    }
    return all;
  }
  [[nodiscard]] std::vector<std::int64_t> everyones() const {
    std::vector<std::int64_t> all;
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      const std::vector<std::int64_t> block = numbers(r, 0, counts_[r]);
      all.insert(all.end(), block.begin(), block.end());
    }
    return all;
  }
  [[nodiscard]] std::vector<std::int64_t> my_columns() const {
    std::vector<std::int64_t> all;
    for (std::uint32_t s = 0; s < ranks_; ++s) {
      std::uint64_t begin = 0;
      for (std::uint32_t d = 0; d < self_; ++d) begin += pair_count(s, d);
      const std::vector<std::int64_t> block = numbers(s, begin, pair_count(s, self_));
      all.insert(all.end(), block.begin(), block.end());
    }
    return all;
  }

  const Trial& trial_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  std::vector<std::uint64_t> counts_;
  std::vector<std::uint64_t> to_;
  std::vector<std::uint64_t> from_;
};

/// Algorithms that use a shape get the squarest one.
Shape shape_for(const Trial& trial, std::uint32_t ranks) {
  const bool needs_shape = !trial.algorithm.empty() && algorithm(trial.algorithm).needs_shape();
  return needs_shape ? squarest(ranks) : Shape{};
}

}  // namespace

std::string words(const Trial& trial) {
  return (trial.algorithm.empty() ? std::string(name(trial.collective)) : trial.algorithm) + " " +
         std::string(name(trial.dtype)) + " " + std::string(name(trial.op)) + " count " +
         std::to_string(trial.count) + " root " + std::to_string(trial.root) +
         (trial.in_place ? " in place" : "") + (trial.counted ? " with counts" : "") +
         (trial.asynchronous ? " async" : "") + (trial.shared ? " shared" : "") +
         (trial.single_copy ? " single copy" : "") + (trial.misaligned > 0 ? " misaligned" : "");
}

std::string try_call(Communicator& communicator, const Trial& trial) {
  const std::uint32_t self = communicator.rank();
  const Model model(trial, self, communicator.size());
  const std::size_t element = size_of(trial.dtype);
  const std::vector<std::int64_t> in = model.input();
  const std::vector<std::int64_t> promised = model.output();
  Guarded input(in.size() * element, trial.misaligned, trial.shared);
  Guarded output(promised.size() * element, trial.misaligned, trial.shared);
  const std::byte* from = input.data();
  std::byte* to = output.data();
  const std::size_t own = model.own_block() * element;
  const bool in_place = trial.in_place && !in.empty() && !promised.empty();
  if (in_place && in.size() > promised.size()) to = input.data() + own;
  if (in_place && in.size() < promised.size()) from = output.data() + own;
  if (in_place && in.size() == promised.size()) from = output.data();
  for (std::size_t i = 0; i < in.size(); ++i) {
    encode(trial.dtype, trial.op, in[i], 1, const_cast<std::byte*>(from) + i * element);
  }
  const std::vector<std::byte> kept(from, from + in.size() * element);
  Call call{.collective = trial.collective,
            .input = from,
            .output = to,
            .count = trial.count,
            .dtype = trial.dtype,
            .reduction = trial.op,
            .root = trial.root,
            .options = {.algorithm = trial.algorithm,
                        .schedule = trial.schedule,
                        .shape = shape_for(trial, communicator.size()),
                        .timeout = trial.timeout,
                        .tuning = {.single_copy_from = trial.single_copy ? 1U : 0U}}};
  if (trial.counted) {
    call.count = 0;
    call.counts = model.counts();
    call.output_counts = model.from_counts();
  }
  if (trial.before_call) trial.before_call();
  if (trial.asynchronous) {
    communicator.start(call).wait();
  } else {
    communicator.run(call);
  }
  const std::uint32_t divisor =
      trial.op == Op::avg && is_reduction(trial.collective) ? communicator.size() : 1;
  std::byte expected[16];
  for (std::size_t i = 0; i < promised.size(); ++i) {
    encode(trial.dtype, trial.op, promised[i], divisor, expected);
    if (std::memcmp(expected, to + i * element, element) == 0) continue;
    return "rank " + std::to_string(self) + " element " + std::to_string(i);
  }
  if (!input.untouched_around() || !output.untouched_around()) return "wrote beyond a buffer";
  if (!in_place && !std::equal(kept.begin(), kept.end(), from)) return "changed the input";
  return "";
}

}  // namespace tutti::test
