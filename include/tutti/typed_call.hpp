#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

#include <tutti/call.hpp>
#include <tutti/element.hpp>
#include <tutti/error.hpp>
#include <tutti/export.hpp>
#include <tutti/message.hpp>
#include <tutti/rank.hpp>

namespace tutti {

/// A contiguous range of elements that can be read: a vector, an array, a span.
template <class R>
concept Readable = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    Movable<std::ranges::range_value_t<R>>;
/// And that can be written.
template <class R>
concept Writable =
    Readable<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

/// How a typed call combines elements: an Op, or a Reduction.
template <class How>
concept ReductionLike = std::convertible_to<const How&, Reduction>;

/// Contributions of one rank: a range of readable ranges.
template <class R>
concept ShardRange = std::ranges::forward_range<R> && Readable<std::ranges::range_value_t<R>>;

/// Builds the Call of a typed collective: element type and count follow from the ranges. Each
/// member throws invalid_argument if the lengths of the ranges do not match.
class TUTTI_API TypedCall {
 public:
  TypedCall(Rank rank, std::uint32_t size) : rank_(rank), size_(size) {}

  /// A call to which the rest is added. A copy, because compilers clear a new object of this size
  /// by an instruction that starts slowly: it would take a tenth of the time of a short call.
  [[nodiscard]] static Call begin(Collective collective, const void* input, void* output,
                                  const CallOptions& options) {
    Call call = blank;
    call.collective = collective;
    call.input = input;
    call.output = output;
    if (&options != &usual_options) call.options = options;
    return call;
  }

  template <class R>
  using ElementOf = std::ranges::range_value_t<R>;

  template <class Out, class In>
  static std::span<const ElementOf<Out>> input_of(const In& data) {
    static_assert(std::same_as<ElementOf<In>, ElementOf<Out>>, "input and output differ in type");
    return {std::ranges::data(data), std::ranges::size(data)};
  }
  template <class Out>
  static std::span<ElementOf<Out>> output_of(Out& data) {
    return {std::ranges::data(data), std::ranges::size(data)};
  }
  /// The most that there is if the product is larger, so that the call refuses it.
  template <class Data>
  static std::size_t bytes_of(const Data& data) {
    constexpr std::size_t element = sizeof(ElementOf<Data>);
    constexpr std::size_t most = ~std::size_t{0};
    const std::size_t count = std::ranges::size(data);
    return count > most / element ? most : count * element;
  }
  template <class Data>
  static Outgoing outgoing(const Data& data, Rank to, const MessageOptions& options) {
    return {.data = std::ranges::data(data), .bytes = bytes_of(data), .to = to, .tag = options.tag};
  }
  template <class Data>
  static Incoming incoming(Data& data, Rank from, const MessageOptions& options) {
    return {.data = std::ranges::data(data),
            .bytes = bytes_of(data),
            .from = from,
            .tag = options.tag,
            .may_be_shorter = options.may_be_shorter};
  }
  template <class Out, class Shards>
  [[nodiscard]] std::vector<const void*> shards_of(const Shards& shards, std::size_t length) const {
    using T = ElementOf<std::ranges::range_value_t<Shards>>;
    static_assert(std::same_as<T, ElementOf<Out>>, "shards and output differ in type");
    static_assert(Number<T>, "shards hold numbers that tutti can add up");
    std::vector<const void*> all;
    for (const auto& shard : shards) {
      require_equal("shard", std::ranges::size(shard), length);
      all.push_back(std::ranges::data(shard));
    }
    return all;
  }

  template <Movable T, class How>
  [[nodiscard]] Call shards(Collective collective, const std::vector<const void*>& shards,
                            std::span<T> output, Rank root, const How& reduction,
                            const CallOptions& options) const {
    Call call = begin(collective, nullptr, output.data(), options);
    call.shards = shards;
    call.root = root;
    call.options.reproducible = Reproducible::exact;
    describe_elements<T>(call, output.size());
    describe_reduction<T>(call, reduction);
    return call;
  }

  template <Movable T>
  [[nodiscard]] Call broadcast(std::span<T> data, Rank root, const CallOptions& options) const {
    Call call = begin(Collective::broadcast, data.data(), data.data(), options);
    call.root = root;
    describe_elements<T>(call, data.size());
    return call;
  }

  template <Movable T>
  [[nodiscard]] Call all_gather(std::span<const T> block, std::span<T> blocks,
                                const CallOptions& options) const {
    require_blocks("all_gather", blocks.size(), block.size());
    Call call = begin(Collective::allgather, block.data(), blocks.data(), options);
    describe_elements<T>(call, block.size());
    return call;
  }

  template <Movable T>
  [[nodiscard]] Call all_gather(std::span<T> blocks, const CallOptions& options) const {
    return all_gather<T>(own_block(blocks), blocks, options);
  }

  template <Movable T>
  [[nodiscard]] Call scatter(std::span<const T> blocks, std::span<T> block, Rank root,
                             const CallOptions& options) const {
    if (rank_ == root) require_blocks("scatter", blocks.size(), block.size());
    Call call = begin(Collective::scatter, blocks.data(), block.data(), options);
    call.root = root;
    describe_elements<T>(call, block.size());
    return call;
  }

  template <Movable T>
  [[nodiscard]] Call gather(std::span<const T> block, std::span<T> blocks, Rank root,
                            const CallOptions& options) const {
    if (rank_ == root) require_blocks("gather", blocks.size(), block.size());
    Call call = begin(Collective::gather, block.data(), blocks.data(), options);
    call.root = root;
    describe_elements<T>(call, block.size());
    return call;
  }

  template <Movable T, class How>
  [[nodiscard]] Call all_reduce(std::span<const T> input, std::span<T> output, const How& reduction,
                                const CallOptions& options) const {
    require_equal("all_reduce", input.size(), output.size());
    Call call = begin(Collective::allreduce, input.data(), output.data(), options);
    describe_elements<T>(call, input.size());
    describe_reduction<T>(call, reduction);
    return call;
  }

  template <Movable T, class How>
  [[nodiscard]] Call reduce(std::span<const T> input, std::span<T> output, Rank root,
                            const How& reduction, const CallOptions& options) const {
    if (rank_ == root) require_equal("reduce", input.size(), output.size());
    Call call = begin(Collective::reduce, input.data(), output.data(), options);
    call.root = root;
    describe_elements<T>(call, input.size());
    describe_reduction<T>(call, reduction);
    return call;
  }

  template <Movable T, class How>
  [[nodiscard]] Call reduce_scatter(std::span<const T> blocks, std::span<T> block,
                                    const How& reduction, const CallOptions& options) const {
    require_blocks("reduce_scatter", blocks.size(), block.size());
    Call call = begin(Collective::reduce_scatter, blocks.data(), block.data(), options);
    describe_elements<T>(call, block.size());
    describe_reduction<T>(call, reduction);
    return call;
  }

  template <Movable T, class How>
  [[nodiscard]] Call reduce_scatter(std::span<T> blocks, const How& reduction,
                                    const CallOptions& options) const {
    return reduce_scatter<T>(blocks, own_block(blocks), reduction, options);
  }

  template <Movable T>
  [[nodiscard]] Call all_to_all(std::span<const T> input, std::span<T> output,
                                const CallOptions& options) const {
    require_equal("all_to_all", input.size(), output.size());
    require_blocks("all_to_all", input.size(), input.size() / size_);
    Call call = begin(Collective::alltoall, input.data(), output.data(), options);
    describe_elements<T>(call, input.size() / size_);
    return call;
  }

  template <Movable T>
  [[nodiscard]] Call with_counts(Collective collective, std::span<const T> input,
                                 std::span<T> output, std::span<const std::uint64_t> counts,
                                 Rank root, const CallOptions& options) const {
    const bool brings = collective != Collective::scatter || rank_ == root;
    const bool gets = collective != Collective::gather || rank_ == root;
    require_counted(collective, counts, brings ? input.size() : 0, gets ? output.size() : 0);
    Call call = begin(collective, input.data(), output.data(), options);
    call.counts = counts;
    // Unlike a count, the caller's counts are not turned into bytes: that would take a copy.
    if constexpr (Number<T>) {
      call.dtype = DTypeOf<T>::value;
    } else {
      call.element_bytes = sizeof(T);
    }
    call.root = root;
    return call;
  }

  template <Movable T>
  [[nodiscard]] Call all_gather_v(std::span<const T> block, std::span<T> blocks,
                                  std::span<const std::uint64_t> counts,
                                  const CallOptions& options) const {
    return with_counts(Collective::allgather, block, blocks, counts, 0, options);
  }
  template <Movable T, class How>
  [[nodiscard]] Call reduce_scatter_v(std::span<const T> blocks, std::span<T> block,
                                      std::span<const std::uint64_t> counts, const How& reduction,
                                      const CallOptions& options) const {
    Call call = with_counts(Collective::reduce_scatter, blocks, block, counts, 0, options);
    describe_reduction<T>(call, reduction);
    return call;
  }
  template <Movable T>
  [[nodiscard]] Call all_to_all_v(std::span<const T> input,
                                  std::span<const std::uint64_t> input_counts, std::span<T> output,
                                  std::span<const std::uint64_t> output_counts,
                                  const CallOptions& options) const {
    Call call = with_counts(Collective::alltoall, input, output, input_counts, 0, options);
    call.output_counts = output_counts;
    return call;
  }

 private:
  static inline const Call blank{};

  /// This rank's block of all blocks.
  template <Movable T>
  [[nodiscard]] std::span<T> own_block(std::span<T> blocks) const {
    const std::size_t length = blocks.size() / size_;
    return blocks.subspan(rank_ * length, length);
  }

  template <Movable T>
  static void describe_elements(Call& call, std::uint64_t count) {
    // Elements of other types are moved as bytes.
    if constexpr (Number<T>) {
      call.dtype = DTypeOf<T>::value;
      call.count = count;
    } else {
      call.count = count * sizeof(T);
    }
  }

  template <Movable T, class How>
  static void describe_reduction(Call& call, const How& reduction) {
    call.reduction = reduction;
    if constexpr (!Number<T>) {
      static_assert(!std::same_as<How, Op>,
                    "tutti combines integers of 8 to 64 bits, Float16, BFloat16, float, double, "
                    "std::complex<float> and std::complex<double>; for any other type give a "
                    "function: tutti::reduction<T>(f)");
      if (call.reduction.combine() == nullptr) {
        throw Error(ErrorCode::invalid_argument,
                    "tutti cannot combine these elements itself: give it a function");
      }
      call.count /= sizeof(T);
      call.element_bytes = sizeof(T);
    }
  }

  void require_blocks(const char* call, std::size_t all, std::size_t one) const;
  void require_counted(Collective collective, std::span<const std::uint64_t> counts,
                       std::uint64_t input, std::uint64_t output) const;
  void require_equal(const char* call, std::size_t input, std::size_t output) const;

  std::uint32_t rank_;
  std::uint32_t size_;
};

}  // namespace tutti
