#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include <tutti/call.hpp>
#include <tutti/communicator_options.hpp>
#include <tutti/counters.hpp>
#include <tutti/element.hpp>
#include <tutti/error.hpp>
#include <tutti/exchange.hpp>
#include <tutti/export.hpp>
#include <tutti/message.hpp>
#include <tutti/unique_id.hpp>
#include <tutti/verdict.hpp>
#include <tutti/work.hpp>

namespace tutti {

/// Elements one after the other that can be read: a vector, an array, a span.
template <class R>
concept Readable = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    Movable<std::ranges::range_value_t<R>>;
/// And that can be written.
template <class R>
concept Writable =
    Readable<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

/// How a typed call is told to combine elements: an Op, or a Reduction.
template <class How>
concept ReductionLike = std::convertible_to<const How&, Reduction>;

/// Contributions of one rank: a range of what can be read.
template <class R>
concept ShardRange = std::ranges::forward_range<R> && Readable<std::ranges::range_value_t<R>>;

struct Shrunk;
struct Retried;

/// One rank's membership in a group of ranks that call collectives together.
///
/// All ranks of a communicator make the same collectives in the same order. Calls with `_async`
/// return at once; collectives are done in the order in which they were made, blocking ones among
/// them, and messages between two ranks independently of those and of each other.
///
/// One thread at a time may call collectives of a communicator; a second one that does meanwhile
/// gets an error, unless that was allowed (see CommunicatorOptions::threads). Different
/// communicators, duplicates included, are independent of each other.
///
/// It does not survive fork(): in a child every call but rank() and size() throws aborted, and to
/// destroy it does nothing. One that was moved from throws invalid_argument.
///
/// Typed calls take vectors, arrays and spans of anything that can be copied byte by byte, and
/// reductions numbers (see Number) or a function of the caller's (see reduction()). run() takes raw
/// memory.
class TUTTI_API Communicator {
 public:
  /// The group that this process was started in by `tutti run`, torchrun, mpirun, srun or mpiexec;
  /// a communicator of one if it was not.
  [[nodiscard]] static Communicator from_environment(const CommunicatorOptions& options = {});
  /// A new group of `ranks` ranks, of which this is `rank`; all call it. They tell each other by
  /// the exchange where they are: by a launcher's, a store's (see StoreExchange), or another
  /// library's. It is used until this returns.
  [[nodiscard]] static Communicator create(Exchange& exchange, std::uint32_t rank,
                                           std::uint32_t ranks,
                                           const CommunicatorOptions& options = {});
  /// The same by an id, which the process of rank 0 has made. Throws timed_out that names who is
  /// missing.
  [[nodiscard]] static Communicator create(const UniqueId& id, std::uint32_t rank,
                                           std::uint32_t ranks,
                                           const CommunicatorOptions& options = {});

  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  /// Finishes what was begun. Receives for which no message comes within half a second are given
  /// up.
  ~Communicator();

  [[nodiscard]] std::uint32_t rank() const;
  [[nodiscard]] std::uint32_t size() const;

  // Data to all -------------------------------------------------------------------------------

  /// Everyone ends with the root's data.
  template <Writable Data>
  void broadcast(Data&& data, std::uint32_t root, const CallOptions& options = {}) {
    run(broadcast_call(output_of(data), root, options));
  }
  template <Writable Data>
  Work broadcast_async(Data&& data, std::uint32_t root, const CallOptions& options = {}) {
    return start(broadcast_call(output_of(data), root, options));
  }

  /// Everyone ends with the blocks of all, in order of rank. `blocks` holds size() times as many.
  template <Readable In, Writable Out>
  void all_gather(const In& block, Out&& blocks, const CallOptions& options = {}) {
    run(all_gather_call(input_of<Out>(block), output_of(blocks), options));
  }
  template <Readable In, Writable Out>
  Work all_gather_async(const In& block, Out&& blocks, const CallOptions& options = {}) {
    return start(all_gather_call(input_of<Out>(block), output_of(blocks), options));
  }
  /// Blocks of different lengths: counts[r] elements are rank r's.
  template <Readable In, Writable Out>
  void all_gather_v(const In& block, Out&& blocks, std::span<const std::uint64_t> counts,
                    const CallOptions& options = {}) {
    run(all_gather_v_call(input_of<Out>(block), output_of(blocks), counts, options));
  }
  template <Readable In, Writable Out>
  Work all_gather_v_async(const In& block, Out&& blocks, std::span<const std::uint64_t> counts,
                          const CallOptions& options = {}) {
    return start(all_gather_v_call(input_of<Out>(block), output_of(blocks), counts, options));
  }

  // Between one and all -----------------------------------------------------------------------

  /// Rank r ends with block r of the root's. Only the root's `blocks` are heeded.
  template <Readable In, Writable Out>
  void scatter(const In& blocks, Out&& block, std::uint32_t root, const CallOptions& options = {}) {
    run(scatter_call(input_of<Out>(blocks), output_of(block), root, options));
  }
  template <Readable In, Writable Out>
  Work scatter_async(const In& blocks, Out&& block, std::uint32_t root,
                     const CallOptions& options = {}) {
    return start(scatter_call(input_of<Out>(blocks), output_of(block), root, options));
  }
  template <Readable In, Writable Out>
  void scatter_v(const In& blocks, Out&& block, std::span<const std::uint64_t> counts,
                 std::uint32_t root, const CallOptions& options = {}) {
    run(blocks_call(Collective::scatter, input_of<Out>(blocks), output_of(block), counts, root,
                    options));
  }
  template <Readable In, Writable Out>
  Work scatter_v_async(const In& blocks, Out&& block, std::span<const std::uint64_t> counts,
                       std::uint32_t root, const CallOptions& options = {}) {
    return start(blocks_call(Collective::scatter, input_of<Out>(blocks), output_of(block), counts,
                             root, options));
  }

  /// The root ends with the blocks of all, in order of rank. Only the root's `blocks` are heeded.
  template <Readable In, Writable Out>
  void gather(const In& block, Out&& blocks, std::uint32_t root, const CallOptions& options = {}) {
    run(gather_call(input_of<Out>(block), output_of(blocks), root, options));
  }
  template <Readable In, Writable Out>
  Work gather_async(const In& block, Out&& blocks, std::uint32_t root,
                    const CallOptions& options = {}) {
    return start(gather_call(input_of<Out>(block), output_of(blocks), root, options));
  }
  template <Readable In, Writable Out>
  void gather_v(const In& block, Out&& blocks, std::span<const std::uint64_t> counts,
                std::uint32_t root, const CallOptions& options = {}) {
    run(blocks_call(Collective::gather, input_of<Out>(block), output_of(blocks), counts, root,
                    options));
  }
  template <Readable In, Writable Out>
  Work gather_v_async(const In& block, Out&& blocks, std::span<const std::uint64_t> counts,
                      std::uint32_t root, const CallOptions& options = {}) {
    return start(blocks_call(Collective::gather, input_of<Out>(block), output_of(blocks), counts,
                             root, options));
  }

  // Reductions --------------------------------------------------------------------------------

  /// Everyone ends with the combination of all ranks' data.
  template <Readable In, Writable Out, ReductionLike How = Op>
  void all_reduce(const In& input, Out&& output, const How& reduction = {},
                  const CallOptions& options = {}) {
    run(all_reduce_call(input_of<Out>(input), output_of(output), reduction, options));
  }
  /// In place.
  template <Writable Data, ReductionLike How = Op>
  void all_reduce(Data&& data, const How& reduction = {}, const CallOptions& options = {}) {
    run(all_reduce_call(input_of<Data>(data), output_of(data), reduction, options));
  }
  template <Readable In, Writable Out, ReductionLike How = Op>
  Work all_reduce_async(const In& input, Out&& output, const How& reduction = {},
                        const CallOptions& options = {}) {
    return start(all_reduce_call(input_of<Out>(input), output_of(output), reduction, options));
  }
  template <Writable Data, ReductionLike How = Op>
  Work all_reduce_async(Data&& data, const How& reduction = {}, const CallOptions& options = {}) {
    return start(all_reduce_call(input_of<Data>(data), output_of(data), reduction, options));
  }

  /// The root ends with the combination of all ranks' data. Only the root's `output` is heeded.
  template <Readable In, Writable Out, ReductionLike How = Op>
  void reduce(const In& input, Out&& output, std::uint32_t root, const How& reduction = {},
              const CallOptions& options = {}) {
    run(reduce_call(input_of<Out>(input), output_of(output), root, reduction, options));
  }
  template <Readable In, Writable Out, ReductionLike How = Op>
  Work reduce_async(const In& input, Out&& output, std::uint32_t root, const How& reduction = {},
                    const CallOptions& options = {}) {
    return start(reduce_call(input_of<Out>(input), output_of(output), root, reduction, options));
  }

  /// Rank r ends with block r of the combination. `blocks` holds size() times as many as `block`.
  template <Readable In, Writable Out, ReductionLike How = Op>
  void reduce_scatter(const In& blocks, Out&& block, const How& reduction = {},
                      const CallOptions& options = {}) {
    run(reduce_scatter_call(input_of<Out>(blocks), output_of(block), reduction, options));
  }
  template <Readable In, Writable Out, ReductionLike How = Op>
  Work reduce_scatter_async(const In& blocks, Out&& block, const How& reduction = {},
                            const CallOptions& options = {}) {
    return start(reduce_scatter_call(input_of<Out>(blocks), output_of(block), reduction, options));
  }
  template <Readable In, Writable Out, ReductionLike How = Op>
  void reduce_scatter_v(const In& blocks, Out&& block, std::span<const std::uint64_t> counts,
                        const How& reduction = {}, const CallOptions& options = {}) {
    run(reduce_scatter_v_call(input_of<Out>(blocks), output_of(block), counts, reduction, options));
  }
  template <Readable In, Writable Out, ReductionLike How = Op>
  Work reduce_scatter_v_async(const In& blocks, Out&& block, std::span<const std::uint64_t> counts,
                              const How& reduction = {}, const CallOptions& options = {}) {
    return start(
        reduce_scatter_v_call(input_of<Out>(blocks), output_of(block), counts, reduction, options));
  }

  // Reductions of shards ----------------------------------------------------------------------

  // Every rank brings some contributions to the exact sum, or none, as a range of vectors, arrays
  // or spans. The same shards give the same bits however they are spread over ranks, and on any
  // number of ranks (Reproducible::exact). avg divides by the number of shards.

  /// Everyone ends with the combination of all shards of all ranks.
  template <ShardRange Shards, Writable Out, ReductionLike How = Op>
  void all_reduce_shards(const Shards& shards, Out&& output, const How& reduction = {},
                         const CallOptions& options = {}) {
    const std::vector<const void*> each = shards_of<Out>(shards, output.size());
    run(shards_call(Collective::allreduce, each, output_of(output), 0, reduction, options));
  }
  template <ShardRange Shards, Writable Out, ReductionLike How = Op>
  Work all_reduce_shards_async(const Shards& shards, Out&& output, const How& reduction = {},
                               const CallOptions& options = {}) {
    const std::vector<const void*> each = shards_of<Out>(shards, output.size());
    return start(
        shards_call(Collective::allreduce, each, output_of(output), 0, reduction, options));
  }
  /// The root ends with it. Of the others only the length of `output` is heeded.
  template <ShardRange Shards, Writable Out, ReductionLike How = Op>
  void reduce_shards(const Shards& shards, Out&& output, std::uint32_t root,
                     const How& reduction = {}, const CallOptions& options = {}) {
    const std::vector<const void*> each = shards_of<Out>(shards, output.size());
    run(shards_call(Collective::reduce, each, output_of(output), root, reduction, options));
  }
  /// Rank r ends with block r of it. A shard holds size() times as many as `block`.
  template <ShardRange Shards, Writable Out, ReductionLike How = Op>
  void reduce_scatter_shards(const Shards& shards, Out&& block, const How& reduction = {},
                             const CallOptions& options = {}) {
    const std::vector<const void*> each = shards_of<Out>(shards, block.size() * size());
    run(shards_call(Collective::reduce_scatter, each, output_of(block), 0, reduction, options));
  }

  // All to all, and none ----------------------------------------------------------------------

  /// Block d of rank s becomes block s of rank d.
  template <Readable In, Writable Out>
  void all_to_all(const In& input, Out&& output, const CallOptions& options = {}) {
    run(all_to_all_call(input_of<Out>(input), output_of(output), options));
  }
  template <Readable In, Writable Out>
  Work all_to_all_async(const In& input, Out&& output, const CallOptions& options = {}) {
    return start(all_to_all_call(input_of<Out>(input), output_of(output), options));
  }
  /// input_counts[d] elements go to rank d, output_counts[s] come from rank s.
  template <Readable In, Writable Out>
  void all_to_all_v(const In& input, std::span<const std::uint64_t> input_counts, Out&& output,
                    std::span<const std::uint64_t> output_counts, const CallOptions& options = {}) {
    run(all_to_all_v_call(input_of<Out>(input), input_counts, output_of(output), output_counts,
                          options));
  }
  template <Readable In, Writable Out>
  Work all_to_all_v_async(const In& input, std::span<const std::uint64_t> input_counts,
                          Out&& output, std::span<const std::uint64_t> output_counts,
                          const CallOptions& options = {}) {
    return start(all_to_all_v_call(input_of<Out>(input), input_counts, output_of(output),
                                   output_counts, options));
  }

  /// Nobody returns before all have called.
  void barrier(const CallOptions& options = {}) {
    run({.collective = Collective::barrier, .options = options});
  }
  [[nodiscard]] Work barrier_async(const CallOptions& options = {}) {
    return start({.collective = Collective::barrier, .options = options});
  }

  // Between two -------------------------------------------------------------------------------

  // Messages between the same two ranks arrive in the order in which they were sent, if their tags
  // are the same. They wait neither for collectives nor for messages to others, may be sent to the
  // rank itself, and may be asked for by several threads at once. A message that is not of the
  // length that its receive expects is an error for both ranks.

  /// Returns when the data may be changed again, which can be before or only when `to` receives.
  template <Readable Data>
  void send(const Data& data, std::uint32_t to, const MessageOptions& options = {}) {
    const Outgoing out = outgoing(data, to, options);
    run({&out, 1}, {}, options);
  }
  template <Readable Data>
  Work send_async(const Data& data, std::uint32_t to, const MessageOptions& options = {}) {
    const Outgoing out = outgoing(data, to, options);
    return start({&out, 1}, {}, options);
  }
  /// Waits for a message from a rank, or from any_rank, and says whose it was.
  template <Writable Data>
  Envelope receive(Data&& data, std::uint32_t from, const MessageOptions& options = {}) {
    const Incoming in = incoming(data, from, options);
    return run({}, {&in, 1}, options).front();
  }
  template <Writable Data>
  Work receive_async(Data&& data, std::uint32_t from, const MessageOptions& options = {}) {
    const Incoming in = incoming(data, from, options);
    return start({}, {&in, 1}, options);
  }
  /// Both at once, with one peer or two.
  template <Readable In, Writable Out>
  Envelope send_receive(const In& data, std::uint32_t to, Out&& received, std::uint32_t from,
                        const MessageOptions& options = {}) {
    const Outgoing out = outgoing(data, to, options);
    const Incoming in = incoming(received, from, options);
    return run({&out, 1}, {&in, 1}, options).front();
  }

  /// Many messages at once, raw: none waits for another. Returns the envelopes of those received,
  /// in the order in which they are asked for. Of the options the tag is not used.
  std::vector<Envelope> run(std::span<const Outgoing> out, std::span<const Incoming> in,
                            const MessageOptions& options = {});
  [[nodiscard]] Work start(std::span<const Outgoing> out, std::span<const Incoming> in,
                           const MessageOptions& options = {});

  /// Waits for a message that a receive would take, and leaves it where it is.
  [[nodiscard]] Envelope probe(std::uint32_t from, const MessageOptions& options = {});
  /// The same without waiting; none if there is none yet.
  [[nodiscard]] std::optional<Envelope> try_probe(std::uint32_t from, std::uint32_t tag = 0);

  // Raw ---------------------------------------------------------------------------------------

  /// Does the call and returns when this rank's part is done. Throws invalid_argument, before
  /// anything is done, for a call that cannot be right; any later error leaves the communicator
  /// unusable.
  void run(const Call& call);
  /// Begins the call. Throws as run() does what can be seen at once; the rest is the Work's.
  [[nodiscard]] Work start(const Call& call);

  // The group ---------------------------------------------------------------------------------

  /// Ranks of the same colour form a new communicator, ordered by key and then by rank. A rank
  /// without a colour gets none. Of the options those for new groups are refused.
  [[nodiscard]] std::optional<Communicator> split(std::optional<std::uint32_t> color,
                                                  std::uint32_t key = 0,
                                                  const CommunicatorOptions& options = {});
  /// The same group again, for calls that are independent of this communicator's.
  [[nodiscard]] Communicator duplicate(const CommunicatorOptions& options = {});

  // When something fails ----------------------------------------------------------------------

  /// Ends every call of every rank, those under way and those to come, with this reason. May be
  /// called by any thread.
  void abort(const std::string& reason);
  /// Why this communicator is at its end: the same on all ranks; none as long as it is not.
  [[nodiscard]] std::optional<Verdict> verdict() const;
  /// What is left of the group: a new communicator of those ranks that call this too, in their
  /// order. Those that are gone, have closed the communicator or do not call within its timeout are
  /// not in it, nor is a rank that has completed another number of calls with retry than most.
  /// `completed` is how much the caller has done, the least of which all learn.
  [[nodiscard]] Shrunk shrink(std::uint64_t completed = 0);

  /// Lets in who waits at the door, where the process of rank 0 listens: "127.0.0.1:29600". All
  /// ranks call it together, at a moment of their choice. Returns a larger communicator, in which
  /// the newcomers have the last ranks; none if nobody waits or it came to nothing. It ends alike
  /// on all ranks: if it throws on one because a rank was lost, none has gone past it.
  struct Growth {
    std::string at{};
    std::uint32_t most = 1024;                 ///< Newcomers.
    std::chrono::milliseconds wait{0};         ///< Until so many have come.
    std::chrono::milliseconds timeout{10000};  ///< For all to meet, newcomers included.
  };
  [[nodiscard]] std::optional<Communicator> grow(const Growth& growth);
  /// Waits at the door until the group lets this process in.
  [[nodiscard]] static Communicator join(
      const std::string& at, std::chrono::milliseconds timeout = std::chrono::seconds(60),
      const CommunicatorOptions& options = {});
  /// How many calls with retry this group has completed: the same for those who join it.
  [[nodiscard]] std::uint64_t completed() const;
  void set_completed(std::uint64_t calls);

  /// What this rank did in its calls of a collective so far, by peer.
  [[nodiscard]] Counters counters(Collective collective) const;
  /// By which algorithm, or by a schedule of which name, a call would be done.
  [[nodiscard]] std::string algorithm_for(const Call& call) const;
  /// How the ranks reach each other, in words: "4 ranks, shared memory".
  [[nodiscard]] std::string description() const;

  class TUTTI_HIDDEN Impl;
  explicit Communicator(std::unique_ptr<Impl> impl);

 private:
  friend Impl& internals(const Communicator& communicator);
  friend TUTTI_API Retried with_retry(Communicator& communicator,
                                      const std::function<void(Communicator&)>& call,
                                      std::span<const std::span<std::byte>> kept);

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
  template <class Data>
  static Outgoing outgoing(const Data& data, std::uint32_t to, const MessageOptions& options) {
    return {.data = std::ranges::data(data),
            .bytes = std::ranges::size(data) * sizeof(ElementOf<Data>),
            .to = to,
            .tag = options.tag};
  }
  template <class Data>
  static Incoming incoming(Data& data, std::uint32_t from, const MessageOptions& options) {
    return {.data = std::ranges::data(data),
            .bytes = std::ranges::size(data) * sizeof(ElementOf<Data>),
            .from = from,
            .tag = options.tag,
            .may_be_shorter = options.may_be_shorter};
  }
  template <Movable T>
  static void describe_elements(Call& call, std::uint64_t count) {
    // What is only moved is moved as bytes.
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

  template <class Out, class Shards>
  std::vector<const void*> shards_of(const Shards& shards, std::size_t length) const {
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
  static Call shards_call(Collective collective, const std::vector<const void*>& shards,
                          std::span<T> output, std::uint32_t root, const How& reduction,
                          const CallOptions& options) {
    Call call{.collective = collective,
              .output = output.data(),
              .shards = shards,
              .root = root,
              .options = options};
    call.options.reproducible = Reproducible::exact;
    describe_elements<T>(call, output.size());
    describe_reduction<T>(call, reduction);
    return call;
  }

  template <Movable T>
  static Call broadcast_call(std::span<T> data, std::uint32_t root, const CallOptions& options) {
    Call call{.collective = Collective::broadcast,
              .input = data.data(),
              .output = data.data(),
              .root = root,
              .options = options};
    describe_elements<T>(call, data.size());
    return call;
  }

  template <Movable T>
  Call all_gather_call(std::span<const T> block, std::span<T> blocks, const CallOptions& options) {
    require_blocks("all_gather", blocks.size(), block.size());
    Call call{.collective = Collective::allgather,
              .input = block.data(),
              .output = blocks.data(),
              .options = options};
    describe_elements<T>(call, block.size());
    return call;
  }

  template <Movable T>
  Call scatter_call(std::span<const T> blocks, std::span<T> block, std::uint32_t root,
                    const CallOptions& options) {
    if (rank() == root) require_blocks("scatter", blocks.size(), block.size());
    Call call{.collective = Collective::scatter,
              .input = blocks.data(),
              .output = block.data(),
              .root = root,
              .options = options};
    describe_elements<T>(call, block.size());
    return call;
  }

  template <Movable T>
  Call gather_call(std::span<const T> block, std::span<T> blocks, std::uint32_t root,
                   const CallOptions& options) {
    if (rank() == root) require_blocks("gather", blocks.size(), block.size());
    Call call{.collective = Collective::gather,
              .input = block.data(),
              .output = blocks.data(),
              .root = root,
              .options = options};
    describe_elements<T>(call, block.size());
    return call;
  }

  template <Movable T, class How>
  Call all_reduce_call(std::span<const T> input, std::span<T> output, const How& reduction,
                       const CallOptions& options) {
    require_equal("all_reduce", input.size(), output.size());
    Call call{.collective = Collective::allreduce,
              .input = input.data(),
              .output = output.data(),
              .options = options};
    describe_elements<T>(call, input.size());
    describe_reduction<T>(call, reduction);
    return call;
  }

  template <Movable T, class How>
  Call reduce_call(std::span<const T> input, std::span<T> output, std::uint32_t root,
                   const How& reduction, const CallOptions& options) {
    if (rank() == root) require_equal("reduce", input.size(), output.size());
    Call call{.collective = Collective::reduce,
              .input = input.data(),
              .output = output.data(),
              .root = root,
              .options = options};
    describe_elements<T>(call, input.size());
    describe_reduction<T>(call, reduction);
    return call;
  }

  template <Movable T, class How>
  Call reduce_scatter_call(std::span<const T> blocks, std::span<T> block, const How& reduction,
                           const CallOptions& options) {
    require_blocks("reduce_scatter", blocks.size(), block.size());
    Call call{.collective = Collective::reduce_scatter,
              .input = blocks.data(),
              .output = block.data(),
              .options = options};
    describe_elements<T>(call, block.size());
    describe_reduction<T>(call, reduction);
    return call;
  }

  template <Movable T>
  Call all_to_all_call(std::span<const T> input, std::span<T> output, const CallOptions& options) {
    require_equal("all_to_all", input.size(), output.size());
    require_blocks("all_to_all", input.size(), input.size() / size());
    Call call{.collective = Collective::alltoall,
              .input = input.data(),
              .output = output.data(),
              .options = options};
    describe_elements<T>(call, input.size() / size());
    return call;
  }

  template <Movable T>
  Call blocks_call(Collective collective, std::span<const T> input, std::span<T> output,
                   std::span<const std::uint64_t> counts, std::uint32_t root,
                   const CallOptions& options) {
    static_assert(Number<T>, "calls with counts move numbers");
    const bool brings = collective != Collective::scatter || rank() == root;
    const bool gets = collective != Collective::gather || rank() == root;
    require_counted(collective, counts, brings ? input.size() : 0, gets ? output.size() : 0);
    return {.collective = collective,
            .input = input.data(),
            .output = output.data(),
            .counts = counts,
            .dtype = DTypeOf<T>::value,
            .root = root,
            .options = options};
  }

  template <Movable T>
  Call all_gather_v_call(std::span<const T> block, std::span<T> blocks,
                         std::span<const std::uint64_t> counts, const CallOptions& options) {
    return blocks_call(Collective::allgather, block, blocks, counts, 0, options);
  }
  template <Movable T, class How>
  Call reduce_scatter_v_call(std::span<const T> blocks, std::span<T> block,
                             std::span<const std::uint64_t> counts, const How& reduction,
                             const CallOptions& options) {
    Call call = blocks_call(Collective::reduce_scatter, blocks, block, counts, 0, options);
    describe_reduction<T>(call, reduction);
    return call;
  }
  template <Movable T>
  Call all_to_all_v_call(std::span<const T> input, std::span<const std::uint64_t> input_counts,
                         std::span<T> output, std::span<const std::uint64_t> output_counts,
                         const CallOptions& options) {
    Call call = blocks_call(Collective::alltoall, input, output, input_counts, 0, options);
    call.output_counts = output_counts;
    return call;
  }

  void require_blocks(const char* call, std::size_t all, std::size_t one) const;
  void require_counted(Collective collective, std::span<const std::uint64_t> counts,
                       std::uint64_t input, std::uint64_t output) const;
  void require_equal(const char* call, std::size_t input, std::size_t output) const;

  std::unique_ptr<Impl> impl_;
};

/// What is left of a communicator.
struct Shrunk {
  /// Of those who are left. There always is one when shrink() returns.
  std::optional<Communicator> communicator{};
  std::vector<std::uint32_t> gone{};  ///< Ranks of the former communicator that are not in it.
  std::uint64_t completed = 0;        ///< The least that any of those left has completed.
};

/// Calls f(communicator) in `ranks` threads at once, each with its own rank of one communicator,
/// and returns when all have returned. Throws what the first that failed has thrown.
TUTTI_API void run_threads(std::uint32_t ranks, const std::function<void(Communicator&)>& f,
                           const CommunicatorOptions& options = {});

}  // namespace tutti
