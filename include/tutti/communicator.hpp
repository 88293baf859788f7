#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tutti/call.hpp>
#include <tutti/communicator_options.hpp>
#include <tutti/counters.hpp>
#include <tutti/error.hpp>
#include <tutti/exchange.hpp>
#include <tutti/export.hpp>
#include <tutti/growth.hpp>
#include <tutti/message.hpp>
#include <tutti/prepared_call.hpp>
#include <tutti/rank.hpp>
#include <tutti/typed_call.hpp>
#include <tutti/unique_id.hpp>
#include <tutti/verdict.hpp>
#include <tutti/work.hpp>

namespace tutti {

struct Regrouped;
struct Retried;

/// One rank's membership in a group of ranks that call collectives together.
///
/// All ranks of a communicator make the same collective calls in the same order. Calls with
/// `_async` return at once. Collectives, blocking ones included, are carried out in the order of
/// the calls. Point-to-point messages progress independently of collectives and of each other.
///
/// One thread at a time may call collectives of a communicator. A second thread gets an error,
/// unless CommunicatorOptions::threads allows it. Different communicators, duplicates included, are
/// independent of each other.
///
/// A communicator does not survive fork(): in a child every call but rank() and size() throws
/// aborted, and the destructor does nothing. One that was moved from throws invalid_argument.
///
/// Typed calls take vectors, arrays and spans of trivially copyable elements. Reductions take
/// numbers (see Number), or a user-defined function (see reduction()). run() takes raw memory.
/// prepare_all_reduce() and the like are in prepared_call.hpp.
class TUTTI_API Communicator : public PreparesCalls<Communicator> {
 public:
  /// The group in which `tutti run`, torchrun, mpirun, srun or mpiexec started this process. A
  /// group of one if none of them did.
  [[nodiscard]] static Communicator from_environment(const CommunicatorOptions& options = {});
  /// A new group of `ranks` ranks, of which this is `rank`. All of them call it. They find each
  /// other through the exchange: a launcher's, a store's (see StoreExchange), or another library's.
  /// The exchange is not used after this returns.
  [[nodiscard]] static Communicator create(Exchange& exchange, Rank rank, std::uint32_t ranks,
                                           const CommunicatorOptions& options = {});
  /// The same with an id that one process has created and sent to all. Throws timed_out, which
  /// names the missing ranks.
  [[nodiscard]] static Communicator create(const UniqueId& id, Rank rank, std::uint32_t ranks,
                                           const CommunicatorOptions& options = {});

  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  /// Completes what was started. Receives without a message are cancelled after half a second.
  ~Communicator();

  [[nodiscard]] Rank rank() const;
  [[nodiscard]] std::uint32_t size() const;

  // One or all to all
  // -------------------------------------------------------------------------------

  /// All ranks get the root's data.
  template <Writable Data>
  void broadcast(Data&& data, Rank root, const CallOptions& options = usual_options) {
    run(typed().broadcast(TypedCall::output_of(data), root, options));
  }
  template <Writable Data>
  [[nodiscard]] Work broadcast_async(Data&& data, Rank root,
                                     const CallOptions& options = usual_options) {
    return start(typed().broadcast(TypedCall::output_of(data), root, options));
  }

  /// All ranks get the blocks of all ranks, in rank order. `blocks` is size() times as long.
  template <Readable In, Writable Out>
  void all_gather(const In& block, Out&& blocks, const CallOptions& options = usual_options) {
    run(typed().all_gather(TypedCall::input_of<Out>(block), TypedCall::output_of(blocks), options));
  }
  template <Readable In, Writable Out>
  [[nodiscard]] Work all_gather_async(const In& block, Out&& blocks,
                                      const CallOptions& options = usual_options) {
    return start(
        typed().all_gather(TypedCall::input_of<Out>(block), TypedCall::output_of(blocks), options));
  }
  /// In place: this rank's block is in its place already.
  template <Writable Data>
  void all_gather(Data&& blocks, const CallOptions& options = usual_options) {
    run(typed().all_gather(TypedCall::output_of(blocks), options));
  }
  template <Writable Data>
  [[nodiscard]] Work all_gather_async(Data&& blocks, const CallOptions& options = usual_options) {
    return start(typed().all_gather(TypedCall::output_of(blocks), options));
  }
  /// Blocks of different lengths: rank r's block has counts[r] elements.
  template <Readable In, Writable Out>
  void all_gather_v(const In& block, Out&& blocks, std::span<const std::uint64_t> counts,
                    const CallOptions& options = usual_options) {
    run(typed().all_gather_v(TypedCall::input_of<Out>(block), TypedCall::output_of(blocks), counts,
                             options));
  }
  template <Readable In, Writable Out>
  [[nodiscard]] Work all_gather_v_async(const In& block, Out&& blocks,
                                        std::span<const std::uint64_t> counts,
                                        const CallOptions& options = usual_options) {
    return start(typed().all_gather_v(TypedCall::input_of<Out>(block), TypedCall::output_of(blocks),
                                      counts, options));
  }

  // Between the root and all
  // -----------------------------------------------------------------------

  /// Rank r gets block r of the root's data. `blocks` is used on the root only.
  template <Readable In, Writable Out>
  void scatter(const In& blocks, Out&& block, Rank root,
               const CallOptions& options = usual_options) {
    run(typed().scatter(TypedCall::input_of<Out>(blocks), TypedCall::output_of(block), root,
                        options));
  }
  template <Readable In, Writable Out>
  [[nodiscard]] Work scatter_async(const In& blocks, Out&& block, Rank root,
                                   const CallOptions& options = usual_options) {
    return start(typed().scatter(TypedCall::input_of<Out>(blocks), TypedCall::output_of(block),
                                 root, options));
  }
  template <Readable In, Writable Out>
  void scatter_v(const In& blocks, Out&& block, std::span<const std::uint64_t> counts, Rank root,
                 const CallOptions& options = usual_options) {
    run(typed().with_counts(Collective::scatter, TypedCall::input_of<Out>(blocks),
                            TypedCall::output_of(block), counts, root, options));
  }
  template <Readable In, Writable Out>
  [[nodiscard]] Work scatter_v_async(const In& blocks, Out&& block,
                                     std::span<const std::uint64_t> counts, Rank root,
                                     const CallOptions& options = usual_options) {
    return start(typed().with_counts(Collective::scatter, TypedCall::input_of<Out>(blocks),
                                     TypedCall::output_of(block), counts, root, options));
  }

  /// The root gets the blocks of all ranks, in rank order. `blocks` is used on the root only.
  template <Readable In, Writable Out>
  void gather(const In& block, Out&& blocks, Rank root,
              const CallOptions& options = usual_options) {
    run(typed().gather(TypedCall::input_of<Out>(block), TypedCall::output_of(blocks), root,
                       options));
  }
  template <Readable In, Writable Out>
  [[nodiscard]] Work gather_async(const In& block, Out&& blocks, Rank root,
                                  const CallOptions& options = usual_options) {
    return start(typed().gather(TypedCall::input_of<Out>(block), TypedCall::output_of(blocks), root,
                                options));
  }
  template <Readable In, Writable Out>
  void gather_v(const In& block, Out&& blocks, std::span<const std::uint64_t> counts, Rank root,
                const CallOptions& options = usual_options) {
    run(typed().with_counts(Collective::gather, TypedCall::input_of<Out>(block),
                            TypedCall::output_of(blocks), counts, root, options));
  }
  template <Readable In, Writable Out>
  [[nodiscard]] Work gather_v_async(const In& block, Out&& blocks,
                                    std::span<const std::uint64_t> counts, Rank root,
                                    const CallOptions& options = usual_options) {
    return start(typed().with_counts(Collective::gather, TypedCall::input_of<Out>(block),
                                     TypedCall::output_of(blocks), counts, root, options));
  }

  // Reductions --------------------------------------------------------------------------------

  /// All ranks get the reduction of all ranks' data.
  template <Readable In, Writable Out, ReductionLike How = Op>
  void all_reduce(const In& input, Out&& output, const How& reduction = {},
                  const CallOptions& options = usual_options) {
    run(typed().all_reduce(TypedCall::input_of<Out>(input), TypedCall::output_of(output), reduction,
                           options));
  }
  /// In place.
  template <Writable Data, ReductionLike How = Op>
  void all_reduce(Data&& data, const How& reduction = {},
                  const CallOptions& options = usual_options) {
    all_reduce(data, data, reduction, options);
  }
  /// The reduction of one number of each rank: total = comm.all_reduce(own).
  template <Number T, ReductionLike How = Op>
  [[nodiscard]] T all_reduce(T value, const How& reduction = {},
                             const CallOptions& options = usual_options) {
    all_reduce(std::span(&value, 1), reduction, options);
    return value;
  }
  template <Readable In, Writable Out, ReductionLike How = Op>
  [[nodiscard]] Work all_reduce_async(const In& input, Out&& output, const How& reduction = {},
                                      const CallOptions& options = usual_options) {
    return start(typed().all_reduce(TypedCall::input_of<Out>(input), TypedCall::output_of(output),
                                    reduction, options));
  }
  template <Writable Data, ReductionLike How = Op>
  [[nodiscard]] Work all_reduce_async(Data&& data, const How& reduction = {},
                                      const CallOptions& options = usual_options) {
    return all_reduce_async(data, data, reduction, options);
  }

  /// The root gets the reduction of all ranks' data. `output` is used on the root only.
  template <Readable In, Writable Out, ReductionLike How = Op>
  void reduce(const In& input, Out&& output, Rank root, const How& reduction = {},
              const CallOptions& options = usual_options) {
    run(typed().reduce(TypedCall::input_of<Out>(input), TypedCall::output_of(output), root,
                       reduction, options));
  }
  template <Readable In, Writable Out, ReductionLike How = Op>
  [[nodiscard]] Work reduce_async(const In& input, Out&& output, Rank root,
                                  const How& reduction = {},
                                  const CallOptions& options = usual_options) {
    return start(typed().reduce(TypedCall::input_of<Out>(input), TypedCall::output_of(output), root,
                                reduction, options));
  }

  /// In place: the root's data becomes the reduction.
  template <Writable Data, ReductionLike How = Op>
  void reduce(Data&& data, Rank root, const How& reduction = {},
              const CallOptions& options = usual_options) {
    reduce(data, data, root, reduction, options);
  }
  template <Writable Data, ReductionLike How = Op>
  [[nodiscard]] Work reduce_async(Data&& data, Rank root, const How& reduction = {},
                                  const CallOptions& options = usual_options) {
    return reduce_async(data, data, root, reduction, options);
  }

  /// Rank r gets block r of the reduction. `blocks` is size() times as long as `block`.
  template <Readable In, Writable Out, ReductionLike How = Op>
  void reduce_scatter(const In& blocks, Out&& block, const How& reduction = {},
                      const CallOptions& options = usual_options) {
    run(typed().reduce_scatter(TypedCall::input_of<Out>(blocks), TypedCall::output_of(block),
                               reduction, options));
  }
  template <Readable In, Writable Out, ReductionLike How = Op>
  [[nodiscard]] Work reduce_scatter_async(const In& blocks, Out&& block, const How& reduction = {},
                                          const CallOptions& options = usual_options) {
    return start(typed().reduce_scatter(TypedCall::input_of<Out>(blocks),
                                        TypedCall::output_of(block), reduction, options));
  }
  /// In place: this rank's block becomes its part of the reduction.
  template <Writable Data, ReductionLike How = Op>
  void reduce_scatter(Data&& blocks, const How& reduction = {},
                      const CallOptions& options = usual_options) {
    run(typed().reduce_scatter(TypedCall::output_of(blocks), reduction, options));
  }
  template <Writable Data, ReductionLike How = Op>
  [[nodiscard]] Work reduce_scatter_async(Data&& blocks, const How& reduction = {},
                                          const CallOptions& options = usual_options) {
    return start(typed().reduce_scatter(TypedCall::output_of(blocks), reduction, options));
  }
  template <Readable In, Writable Out, ReductionLike How = Op>
  void reduce_scatter_v(const In& blocks, Out&& block, std::span<const std::uint64_t> counts,
                        const How& reduction = {}, const CallOptions& options = usual_options) {
    run(typed().reduce_scatter_v(TypedCall::input_of<Out>(blocks), TypedCall::output_of(block),
                                 counts, reduction, options));
  }
  template <Readable In, Writable Out, ReductionLike How = Op>
  [[nodiscard]] Work reduce_scatter_v_async(const In& blocks, Out&& block,
                                            std::span<const std::uint64_t> counts,
                                            const How& reduction = {},
                                            const CallOptions& options = usual_options) {
    return start(typed().reduce_scatter_v(TypedCall::input_of<Out>(blocks),
                                          TypedCall::output_of(block), counts, reduction, options));
  }

  // Reductions of shards ----------------------------------------------------------------------

  // Every rank contributes any number of shards, also none, as a range of vectors, arrays or spans.
  // The same shards give the same bits however they are distributed over ranks, and on any number
  // of ranks (Reproducible::exact). avg divides by the number of shards.

  /// All ranks get the reduction of all shards of all ranks.
  template <ShardRange Shards, Writable Out, ReductionLike How = Op>
  void all_reduce_shards(const Shards& shards, Out&& output, const How& reduction = {},
                         const CallOptions& options = usual_options) {
    const std::vector<const void*> each = typed().shards_of<Out>(shards, output.size());
    run(typed().shards(Collective::allreduce, each, TypedCall::output_of(output), 0, reduction,
                       options));
  }
  template <ShardRange Shards, Writable Out, ReductionLike How = Op>
  [[nodiscard]] Work all_reduce_shards_async(const Shards& shards, Out&& output,
                                             const How& reduction = {},
                                             const CallOptions& options = usual_options) {
    const std::vector<const void*> each = typed().shards_of<Out>(shards, output.size());
    return start(typed().shards(Collective::allreduce, each, TypedCall::output_of(output), 0,
                                reduction, options));
  }
  /// The root gets it. On other ranks only the length of `output` is used.
  template <ShardRange Shards, Writable Out, ReductionLike How = Op>
  void reduce_shards(const Shards& shards, Out&& output, Rank root, const How& reduction = {},
                     const CallOptions& options = usual_options) {
    const std::vector<const void*> each = typed().shards_of<Out>(shards, output.size());
    run(typed().shards(Collective::reduce, each, TypedCall::output_of(output), root, reduction,
                       options));
  }
  /// Rank r gets block r of it. A shard is size() times as long as `block`.
  template <ShardRange Shards, Writable Out, ReductionLike How = Op>
  void reduce_scatter_shards(const Shards& shards, Out&& block, const How& reduction = {},
                             const CallOptions& options = usual_options) {
    const std::vector<const void*> each = typed().shards_of<Out>(shards, block.size() * size());
    run(typed().shards(Collective::reduce_scatter, each, TypedCall::output_of(block), 0, reduction,
                       options));
  }

  // All to all, and barrier ----------------------------------------------------------------------

  /// Block d of rank s becomes block s of rank d. In place if there is only one range.
  template <Readable In, Writable Out>
  void all_to_all(const In& input, Out&& output, const CallOptions& options = usual_options) {
    run(typed().all_to_all(TypedCall::input_of<Out>(input), TypedCall::output_of(output), options));
  }
  template <Readable In, Writable Out>
  [[nodiscard]] Work all_to_all_async(const In& input, Out&& output,
                                      const CallOptions& options = usual_options) {
    return start(
        typed().all_to_all(TypedCall::input_of<Out>(input), TypedCall::output_of(output), options));
  }
  template <Writable Data>
  void all_to_all(Data&& data, const CallOptions& options = usual_options) {
    all_to_all(data, data, options);
  }
  template <Writable Data>
  [[nodiscard]] Work all_to_all_async(Data&& data, const CallOptions& options = usual_options) {
    return all_to_all_async(data, data, options);
  }
  /// input_counts[d] elements go to rank d, output_counts[s] come from rank s.
  template <Readable In, Writable Out>
  void all_to_all_v(const In& input, std::span<const std::uint64_t> input_counts, Out&& output,
                    std::span<const std::uint64_t> output_counts,
                    const CallOptions& options = usual_options) {
    run(typed().all_to_all_v(TypedCall::input_of<Out>(input), input_counts,
                             TypedCall::output_of(output), output_counts, options));
  }
  template <Readable In, Writable Out>
  [[nodiscard]] Work all_to_all_v_async(const In& input,
                                        std::span<const std::uint64_t> input_counts, Out&& output,
                                        std::span<const std::uint64_t> output_counts,
                                        const CallOptions& options = usual_options) {
    return start(typed().all_to_all_v(TypedCall::input_of<Out>(input), input_counts,
                                      TypedCall::output_of(output), output_counts, options));
  }

  /// Returns when all ranks have called it.
  void barrier(const CallOptions& options = usual_options) {
    run(TypedCall::begin(Collective::barrier, nullptr, nullptr, options));
  }
  [[nodiscard]] Work barrier_async(const CallOptions& options = usual_options) {
    return start(TypedCall::begin(Collective::barrier, nullptr, nullptr, options));
  }

  // Point to point -------------------------------------------------------------------------------

  // Messages between two ranks with the same tag arrive in the order in which they were sent, and
  // wait neither for collectives nor for messages of other pairs. A rank may send to itself.
  // Several threads may send and receive at once. If a message has another length than its receive,
  // both ranks get an error. See message.hpp for messages that no receive waits for.

  /// Returns when the data may be changed again: perhaps not before `to` receives.
  template <Readable Data>
  void send(const Data& data, Rank to, const MessageOptions& options = {}) {
    const Outgoing out = TypedCall::outgoing(data, to, options);
    run({&out, 1}, {}, options);
  }
  template <Readable Data>
  [[nodiscard]] Work send_async(const Data& data, Rank to, const MessageOptions& options = {}) {
    const Outgoing out = TypedCall::outgoing(data, to, options);
    return start({&out, 1}, {}, options);
  }
  /// Waits for a message from a rank, or from any_rank. Returns its envelope.
  template <Writable Data>
  Envelope receive(Data&& data, Rank from, const MessageOptions& options = {}) {
    const Incoming in = TypedCall::incoming(data, from, options);
    return run({}, {&in, 1}, options).front();
  }
  template <Writable Data>
  [[nodiscard]] Work receive_async(Data&& data, Rank from, const MessageOptions& options = {}) {
    const Incoming in = TypedCall::incoming(data, from, options);
    return start({}, {&in, 1}, options);
  }
  /// Both at once, with one peer or with two.
  template <Readable In, Writable Out>
  Envelope send_receive(const In& data, Rank to, Out&& received, Rank from,
                        const MessageOptions& options = {}) {
    const Outgoing out = TypedCall::outgoing(data, to, options);
    const Incoming in = TypedCall::incoming(received, from, options);
    return run({&out, 1}, {&in, 1}, options).front();
  }

  /// Many messages at once, of raw memory: none waits for another. Returns the envelopes of the
  /// received messages, in the order of `in`. The tag in the options is ignored.
  std::vector<Envelope> run(std::span<const Outgoing> out, std::span<const Incoming> in,
                            const MessageOptions& options = {});
  [[nodiscard]] Work start(std::span<const Outgoing> out, std::span<const Incoming> in,
                           const MessageOptions& options = {});

  /// Waits for a message that a receive would match, and does not receive it.
  [[nodiscard]] Envelope probe(Rank from, const MessageOptions& options = {});
  /// The same without waiting: none if none has arrived.
  [[nodiscard]] std::optional<Envelope> try_probe(Rank from, std::uint32_t tag = 0);

  // Raw ---------------------------------------------------------------------------------------

  /// Carries out the call, and returns when this rank's part is done. Throws invalid_argument,
  /// before anything is sent, if the arguments are wrong. After any later error the communicator is
  /// unusable.
  void run(const Call& call);
  /// Starts the call. Throws for wrong arguments as run() does; the Work reports later errors.
  [[nodiscard]] Work start(const Call& call);
  [[nodiscard]] PreparedCall prepare(const Call& call);

  // Groups ---------------------------------------------------------------------------------

  /// Ranks of the same colour form a new communicator, ordered by key, then by rank. A rank without
  /// a colour gets none. Throws for options that are for new groups only.
  [[nodiscard]] std::optional<Communicator> split(std::optional<std::uint32_t> color,
                                                  std::uint32_t key = 0,
                                                  const CommunicatorOptions& options = {});
  /// A communicator of the same group, whose calls are independent of this one's.
  [[nodiscard]] Communicator duplicate(const CommunicatorOptions& options = {});

  // Failure ----------------------------------------------------------------------

  /// Ends all running and later calls on all ranks with this reason. Any thread may call it.
  void abort(const std::string& reason);
  /// Why this communicator has failed: the same on all ranks. None if it has not.
  [[nodiscard]] std::optional<Verdict> verdict() const;
  /// A new communicator of the surviving ranks that call this too, in rank order. It leaves out
  /// ranks that have died, have closed the communicator, or do not call within its timeout, and a
  /// rank that has completed another number of calls with retry than the majority. `completed` is
  /// how much this rank has done; all learn the minimum. Throws invalid_argument, and changes
  /// nothing, if the communicator has not failed and no rank has left it.
  [[nodiscard]] Regrouped shrink(std::uint64_t completed = 0);

  using Growth = tutti::Growth;
  /// Admits processes that wait in join(). All ranks call it together. Returns no communicator if
  /// no process waits or admission failed. The outcome is the same on all ranks: if it throws on
  /// one because a rank was lost, it returns on none.
  [[nodiscard]] Regrouped grow(const Growth& growth);
  /// Waits until a group that calls grow() at this address admits this process, which needs the
  /// group's secret. Throws mismatch if it has another one.
  [[nodiscard]] static Communicator join(
      const std::string& at, std::chrono::milliseconds timeout = std::chrono::seconds(60),
      const CommunicatorOptions& options = {});
  /// How many calls with retry this group has completed. Ranks that join get the same number.
  [[nodiscard]] std::uint64_t completed() const;
  void set_completed(std::uint64_t calls);

  /// Counters of this rank's calls of a collective so far, by peer.
  [[nodiscard]] Counters counters(Collective collective) const;
  /// Counters of this rank's point-to-point messages that are done, by peer: the rank that sent a
  /// message, also if it was received from any_rank. `calls` counts sends and receives. Slices and
  /// waits are not counted.
  [[nodiscard]] Counters message_counters() const;
  /// The name of the algorithm or schedule that a call would use.
  [[nodiscard]] std::string algorithm_for(const Call& call) const;
  /// How the ranks are connected: "4 ranks, shared memory".
  [[nodiscard]] std::string description() const;

  class TUTTI_HIDDEN Impl;
  explicit Communicator(std::unique_ptr<Impl> impl);

 private:
  friend Impl& internals(const Communicator& communicator);
  friend TUTTI_API Retried with_retry(Communicator& communicator,
                                      const std::function<void(Communicator&)>& call,
                                      std::span<const std::span<std::byte>> kept);

  [[nodiscard]] TypedCall typed() const { return {rank(), size()}; }

  std::unique_ptr<Impl> impl_;
};

/// What became of a communicator by shrink() or grow().
struct Regrouped {
  /// The new one. Always set by shrink(); not by grow() if no process has joined.
  std::optional<Communicator> communicator{};
  std::vector<std::uint32_t> gone{};  ///< Ranks of the old communicator that are not in it.
  std::uint32_t joined = 0;           ///< How many processes have joined: its last ranks.
  /// What all its ranks have done: of what they said to shrink(), or of calls with retry.
  std::uint64_t completed = 0;
};

/// Calls f(communicator) in `ranks` concurrent threads, each with its own rank of one communicator.
/// Returns when all have returned. Rethrows the first exception.
TUTTI_API void run_threads(std::uint32_t ranks, const std::function<void(Communicator&)>& f,
                           const CommunicatorOptions& options = {});

}  // namespace tutti
