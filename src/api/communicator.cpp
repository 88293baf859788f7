#include <numeric>

#include <tutti/communicator.hpp>

#include "api/communicator_impl.hpp"

namespace tutti {

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

std::uint32_t Communicator::rank() const { return impl_->rank(); }
std::uint32_t Communicator::size() const { return impl_->size(); }

void Communicator::run(const Call& call) { impl_->run(call); }
Work Communicator::start(const Call& call) { return impl_->start(call); }

void Communicator::run_pair(const Parcel& out, const Parcel& in, const CallOptions& options) {
  impl_->run_pair(out, in, options);
}
Work Communicator::start_pair(const Parcel& out, const Parcel& in, const CallOptions& options) {
  return impl_->start_pair(out, in, options);
}

std::optional<Communicator> Communicator::split(std::optional<std::uint32_t> color,
                                                std::uint32_t key) {
  return impl_->split(color, key);
}
Communicator Communicator::duplicate() { return std::move(*impl_->split(0, 0)); }

void Communicator::abort(const std::string& reason) { impl_->abort(reason); }
std::optional<Verdict> Communicator::verdict() const { return impl_->verdict(); }
Shrunk Communicator::shrink(std::uint64_t completed) { return impl_->shrink(completed); }
std::optional<Communicator> Communicator::grow(const Growth& growth) { return impl_->grow(growth); }
std::uint64_t Communicator::completed() const { return impl_->completed(); }
void Communicator::set_completed(std::uint64_t calls) { impl_->set_completed(calls); }

Counters Communicator::counters(Collective collective) const { return impl_->counters(collective); }
std::string Communicator::algorithm_for(const Call& call) const {
  return std::string(impl_->method_for(call).name());
}
std::string Communicator::description() const { return impl_->description(); }

void Communicator::require_blocks(const char* call, std::size_t all, std::size_t one) const {
  if (all == one * size()) return;
  throw Error(ErrorCode::invalid_argument,
              "rank " + std::to_string(rank()) + ": " + call + ": " + std::to_string(all) +
                  " elements are not " + std::to_string(size()) + " blocks of " +
                  std::to_string(one) + "; for blocks of different lengths there is " + call +
                  "_v");
}

/// The longer of a rank's buffers holds all blocks and the shorter its own, where it has both.
void Communicator::require_counted(Collective collective, std::span<const std::uint64_t> counts,
                                   std::uint64_t input, std::uint64_t output) const {
  if (counts.size() != size()) return;  // run() says so.
  const std::uint64_t all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  const std::uint64_t own = counts[rank()];
  const bool spreads =
      collective == Collective::scatter || collective == Collective::reduce_scatter;
  const auto require = [&](const char* what, std::uint64_t has, std::uint64_t needs) {
    if (has == needs) return;
    throw Error(ErrorCode::invalid_argument,
                "rank " + std::to_string(rank()) + ": " + std::string(name(collective)) +
                    " with counts: the " + what + " has " + std::to_string(has) +
                    " elements, but the counts ask for " + std::to_string(needs));
  };
  const bool only_own_input =
      collective == Collective::gather || collective == Collective::allgather;
  if (only_own_input || input > 0) require("input", input, only_own_input ? own : all);
  if (collective == Collective::alltoall) return;
  if (spreads || output > 0) require("output", output, spreads ? own : all);
}

void Communicator::require_equal(const char* call, std::size_t input, std::size_t output) const {
  if (input == output) return;
  throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(rank()) + ": " + call +
                                               ": the input has " + std::to_string(input) +
                                               " elements, the output " + std::to_string(output) +
                                               "; they must be as long");
}

}  // namespace tutti
