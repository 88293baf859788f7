// The collectives of tutti, measured and checked in the same way as those of the other libraries.
// The launcher sets the number of ranks: tutti run -n 4 -- build/bench/peers/tutti …
//
// With TUTTI_BENCH_MEMORY=private buffers come from malloc instead of tutti::allocate.
// With TUTTI_BENCH_CALLS=prepared each call is prepared once.
// TUTTI_BENCH_ALGORITHM replaces tutti's choice of the algorithm for its collective.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <tutti/communicator.hpp>
#include <tutti/memory.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/version.hpp>

#include "peers/peer.hpp"
#include "peers/program.hpp"

namespace {

using peers::Case;

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

tutti::Collective collective_of(peers::Collective collective) {
  std::string name(peers::name(collective));
  if (name.ends_with("v")) name.pop_back();
  return tutti::parse_collective(name);
}

/// A call and the counts that it refers to.
struct CountedCall {
  tutti::Call call;
  std::vector<std::uint64_t> counts;
  std::vector<std::uint64_t> output_counts;
};

class Tutti final : public peers::Peer {
 public:
  [[nodiscard]] int rank() const override { return static_cast<int>(comm_.rank()); }
  [[nodiscard]] int ranks() const override { return static_cast<int>(comm_.size()); }
  [[nodiscard]] std::string library() const override { return "tutti"; }
  [[nodiscard]] std::string version() const override { return std::string(tutti::version); }

  [[nodiscard]] bool supports(const Case& c, bool in_place) const override {
    const bool whole = c.collective == peers::Collective::broadcast ||
                       c.collective == peers::Collective::reduce ||
                       c.collective == peers::Collective::allreduce;
    return whole || !in_place;
  }

  [[nodiscard]] std::function<void()> prepare(const peers::Call& call) override {
    const Case& c = call.what;
    auto counted = std::make_shared<CountedCall>();
    counted->call = plain(call);
    if (peers::name(c.collective).ends_with("v")) give_counts(*counted, c);
    if (!prepares_) return [this, counted] { comm_.run(counted->call); };
    return [prepared = std::make_shared<tutti::PreparedCall>(comm_.prepare(counted->call))] {
      prepared->run();
    };
  }

  [[nodiscard]] std::string algorithm(const peers::Call& call) const override {
    return comm_.algorithm_for(plain(call));
  }

  [[nodiscard]] std::shared_ptr<std::byte> allocate(std::size_t bytes) override {
    if (private_memory_) return Peer::allocate(bytes);
    return {static_cast<std::byte*>(tutti::allocate(bytes)),
            [](std::byte* each) { tutti::deallocate(each); }};
  }

  void barrier() override { aside_.barrier(); }
  void maximum(std::span<double> numbers) override { aside_.all_reduce(numbers, tutti::Op::max); }
  void share(std::span<char> bytes) override { aside_.broadcast(bytes, 0); }

 private:
  /// Without the counts of blocks of different sizes.
  [[nodiscard]] tutti::Call plain(const peers::Call& call) const {
    const Case& c = call.what;
    tutti::Call made{.collective = collective_of(c.collective),
                     .input = call.input,
                     .output = call.output,
                     .count = c.count,
                     .dtype = tutti::parse_dtype(peers::name(c.dtype)),
                     .root = static_cast<std::uint32_t>(std::max(c.root, 0))};
    if (!algorithm_.empty() && tutti::algorithm(algorithm_).collective == made.collective) {
      made.options.algorithm = algorithm_;
      if (tutti::algorithm(algorithm_).needs_shape()) {
        made.options.shape = tutti::squarest(comm_.size());
      }
    }
    if (c.op != peers::Op::none) made.reduction = tutti::parse_op(peers::name(c.op));
    return made;
  }

  void give_counts(CountedCall& counted, const Case& c) const {
    const bool all_pairs = c.collective == peers::Collective::alltoallv;
    for (int r = 0; r < ranks(); ++r) {
      const bool from = c.collective == peers::Collective::gatherv ||
                        c.collective == peers::Collective::allgatherv;
      counted.counts.push_back(peers::block(c, from ? r : rank(), r));
      counted.output_counts.push_back(peers::block(c, r, rank()));
    }
    counted.call.count = 0;
    counted.call.counts = counted.counts;
    if (all_pairs) counted.call.output_counts = counted.output_counts;
  }

  tutti::Communicator comm_ = tutti::Communicator::from_environment();
  // For the measurement itself.
  tutti::Communicator aside_ = comm_.duplicate();
  bool private_memory_ = variable("TUTTI_BENCH_MEMORY") == "private";
  bool prepares_ = variable("TUTTI_BENCH_CALLS") == "prepared";
  std::string algorithm_ = variable("TUTTI_BENCH_ALGORITHM");
};

}  // namespace

int main(int argc, char** argv) {
  try {
    Tutti tutti;
    return run_program(tutti, {argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
