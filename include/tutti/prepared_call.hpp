#pragma once

#include <memory>

#include <tutti/call.hpp>
#include <tutti/export.hpp>
#include <tutti/rank.hpp>
#include <tutti/typed_call.hpp>
#include <tutti/work.hpp>

namespace tutti {

/// A collective that was checked and planned once, to be made many times with the same buffers:
/// what MPI calls a persistent collective.
///
/// It is one of the calls of its communicator, at each run() and start(): all ranks make it at the
/// same place in the order of their calls, prepared or not. Making it again while it is under way
/// is allowed; it begins when the one before has ended. After its communicator is gone it throws
/// invalid_argument.
class TUTTI_API PreparedCall {
 public:
  PreparedCall(PreparedCall&&) noexcept;
  PreparedCall& operator=(PreparedCall&&) noexcept;
  /// Calls that were started end nevertheless.
  ~PreparedCall();

  /// As Communicator::run().
  void run();
  /// As Communicator::start(). The buffers must stay valid until it is done.
  [[nodiscard]] Work start();

  class TUTTI_HIDDEN State;
  explicit PreparedCall(std::shared_ptr<State> state);

 private:
  std::shared_ptr<State> state_;
};

/// The typed calls of a communicator, prepared. They take what the plain ones take. For those with
/// counts and shards there is Communicator::prepare(). Preparing sends nothing; what is wrong with
/// the arguments is thrown here.
template <class Communicator>
class PreparesCalls {
 public:
  template <Writable Data>
  [[nodiscard]] PreparedCall prepare_broadcast(Data&& data, Rank root,
                                               const CallOptions& options = usual_options) {
    return prepared(typed().broadcast(TypedCall::output_of(data), root, options));
  }
  template <Readable In, Writable Out>
  [[nodiscard]] PreparedCall prepare_all_gather(const In& block, Out&& blocks,
                                                const CallOptions& options = usual_options) {
    return prepared(
        typed().all_gather(TypedCall::input_of<Out>(block), TypedCall::output_of(blocks), options));
  }
  template <Writable Data>
  [[nodiscard]] PreparedCall prepare_all_gather(Data&& blocks,
                                                const CallOptions& options = usual_options) {
    return prepared(typed().all_gather(TypedCall::output_of(blocks), options));
  }
  template <Readable In, Writable Out>
  [[nodiscard]] PreparedCall prepare_scatter(const In& blocks, Out&& block, Rank root,
                                             const CallOptions& options = usual_options) {
    return prepared(typed().scatter(TypedCall::input_of<Out>(blocks), TypedCall::output_of(block),
                                    root, options));
  }
  template <Readable In, Writable Out>
  [[nodiscard]] PreparedCall prepare_gather(const In& block, Out&& blocks, Rank root,
                                            const CallOptions& options = usual_options) {
    return prepared(typed().gather(TypedCall::input_of<Out>(block), TypedCall::output_of(blocks),
                                   root, options));
  }
  template <Readable In, Writable Out, ReductionLike How = Op>
  [[nodiscard]] PreparedCall prepare_all_reduce(const In& input, Out&& output,
                                                const How& reduction = {},
                                                const CallOptions& options = usual_options) {
    return prepared(typed().all_reduce(TypedCall::input_of<Out>(input),
                                       TypedCall::output_of(output), reduction, options));
  }
  template <Writable Data, ReductionLike How = Op>
  [[nodiscard]] PreparedCall prepare_all_reduce(Data&& data, const How& reduction = {},
                                                const CallOptions& options = usual_options) {
    return prepare_all_reduce(data, data, reduction, options);
  }
  template <Readable In, Writable Out, ReductionLike How = Op>
  [[nodiscard]] PreparedCall prepare_reduce(const In& input, Out&& output, Rank root,
                                            const How& reduction = {},
                                            const CallOptions& options = usual_options) {
    return prepared(typed().reduce(TypedCall::input_of<Out>(input), TypedCall::output_of(output),
                                   root, reduction, options));
  }
  template <Writable Data, ReductionLike How = Op>
  [[nodiscard]] PreparedCall prepare_reduce(Data&& data, Rank root, const How& reduction = {},
                                            const CallOptions& options = usual_options) {
    return prepare_reduce(data, data, root, reduction, options);
  }
  template <Readable In, Writable Out, ReductionLike How = Op>
  [[nodiscard]] PreparedCall prepare_reduce_scatter(const In& blocks, Out&& block,
                                                    const How& reduction = {},
                                                    const CallOptions& options = usual_options) {
    return prepared(typed().reduce_scatter(TypedCall::input_of<Out>(blocks),
                                           TypedCall::output_of(block), reduction, options));
  }
  template <Writable Data, ReductionLike How = Op>
  [[nodiscard]] PreparedCall prepare_reduce_scatter(Data&& blocks, const How& reduction = {},
                                                    const CallOptions& options = usual_options) {
    return prepared(typed().reduce_scatter(TypedCall::output_of(blocks), reduction, options));
  }
  template <Readable In, Writable Out>
  [[nodiscard]] PreparedCall prepare_all_to_all(const In& input, Out&& output,
                                                const CallOptions& options = usual_options) {
    return prepared(
        typed().all_to_all(TypedCall::input_of<Out>(input), TypedCall::output_of(output), options));
  }
  template <Writable Data>
  [[nodiscard]] PreparedCall prepare_all_to_all(Data&& data,
                                                const CallOptions& options = usual_options) {
    return prepare_all_to_all(data, data, options);
  }
  [[nodiscard]] PreparedCall prepare_barrier(const CallOptions& options = usual_options) {
    return prepared(TypedCall::begin(Collective::barrier, nullptr, nullptr, options));
  }

 private:
  friend Communicator;
  PreparesCalls() = default;

  [[nodiscard]] PreparedCall prepared(const Call& call) {
    return static_cast<Communicator&>(*this).prepare(call);
  }
  [[nodiscard]] TypedCall typed() const {
    const auto& communicator = static_cast<const Communicator&>(*this);
    return {communicator.rank(), communicator.size()};
  }
};

}  // namespace tutti
