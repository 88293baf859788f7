#include "support/crew.hpp"

#include <cstring>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include "support/tcp_ranks.hpp"
#include "transport/inproc/thread_memory.hpp"
#include "transport/inproc/thread_view.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// Tests have more ranks than cores, so spinning wastes time.
constexpr Patience impatient{.spins = 10, .yields = 200};

/// Long enough that no rank times out.
class SilentAlarm final : public Alarm {
  void ring() override {}
};

}  // namespace

class Crew::Member {
 public:
  Member(std::unique_ptr<MemoryTransport> transport, const Membership& membership,
         std::size_t slice_bytes)
      : memory_(std::move(transport)),
        membership_(membership),
        offer_(memory_->offer(membership)),
        slice_bytes_(slice_bytes) {}

  Member(std::unique_ptr<TcpEnd> tcp, std::uint32_t ranks, std::size_t slice_bytes)
      : tcp_(std::move(tcp)) {
    executor_.emplace(tcp_->port(), alarm_, ranks, slice_bytes);
  }

  [[nodiscard]] std::uint64_t offer() const { return offer_; }
  void open(std::span<const std::uint64_t> offers) {
    port_ = memory_->open(membership_, offers);
    executor_.emplace(*port_, alarm_, membership_.size(), slice_bytes_);
  }
  [[nodiscard]] Executor& executor() { return *executor_; }

 private:
  std::unique_ptr<MemoryTransport> memory_;
  Membership membership_;
  std::uint64_t offer_ = 0;
  std::size_t slice_bytes_ = 0;
  std::unique_ptr<Port> port_;
  std::unique_ptr<TcpEnd> tcp_;
  SilentAlarm alarm_;
  std::optional<Executor> executor_;
};

Crew::Crew(std::uint32_t ranks, Sight sight, Staging staging, std::size_t slice_bytes) {
  if (sight == Sight::tcp) {
    for (std::uint32_t r = 0; r < ranks; ++r) lanes_.push_back(r);
    for (auto& transport : tcp_transports(ranks, impatient)) {
      members_.push_back(std::make_unique<Member>(std::move(transport), ranks, slice_bytes));
    }
    return;
  }
  constexpr std::size_t stripe = std::size_t{8} << 20;
  memory_ = std::make_unique<ThreadMemory>(Arena::size(stripe, ranks));
  static ThreadView view;
  std::vector<std::uint32_t> everyone(ranks);
  std::iota(everyone.begin(), everyone.end(), 0);
  std::vector<std::uint64_t> offers;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    auto transport = std::make_unique<MemoryTransport>(
        MemoryTransport::Setting{.base = memory_->data(),
                                 .stripe_bytes = stripe,
                                 .self = r,
                                 .locals = everyone,
                                 .view = sight == Sight::direct ? &view : nullptr,
                                 .patience = impatient,
                                 .has_ended = [](std::uint32_t) { return false; },
                                 .outbox_slots = staging.slots,
                                 .slot_bytes = staging.slot_bytes,
                                 .least_direct = 0});
    members_.push_back(std::make_unique<Member>(
        std::move(transport), Membership{.context = 1, .self = Rank{r}, .members = everyone},
        slice_bytes));
    offers.push_back(members_.back()->offer());
  }
  for (const auto& member : members_) member->open(offers);
}

Crew::~Crew() { members_.clear(); }

std::uint32_t Crew::ranks() const { return static_cast<std::uint32_t>(members_.size()); }

void Crew::all(const std::function<void(Rank, Executor&)>& work) {
  std::exception_ptr failure;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (std::uint32_t r = 0; r < ranks(); ++r) {
    threads.emplace_back([&, r] {
      try {
        work(Rank{r}, members_[r]->executor());
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

namespace {

using Element = std::uint32_t;

Element brought(std::uint32_t rank, Chunk chunk, std::uint64_t i) {
  return rank * 1000003U + static_cast<Element>(chunk.index()) * 10007U +
         static_cast<Element>(i) * 31U + 1U;
}

Element promised(const Contract& contract, Chunk chunk, std::uint64_t i) {
  const std::optional<Rank> origin = contract.origin(chunk);
  if (origin) return brought(origin->index(), chunk, i);
  Element sum = 0;
  for (std::uint32_t r = 0; r < contract.ranks; ++r) sum += brought(r, chunk, i);
  return sum;
}

/// One rank's memory for a call: separate input and output, or in place.
class CallMemory {
 public:
  CallMemory(const Contract& contract, const Layout& layout, Rank self, Aliasing aliasing)
      : contract_(contract), layout_(layout), self_(self) {
    const std::size_t in = length(contract.input(self));
    const std::size_t out = length(contract.output(self));
    input_.assign(in + 1, canary);
    output_.assign(out + 1, canary);
    in_ = input_.data();
    out_ = output_.data();
    if (aliasing == Aliasing::in_place && in > 0 && out > 0) {
      // In place: the shorter buffer lies inside the longer one, at the place of its first chunk.
      if (in >= out && contract.collective != Collective::alltoall) {
        out_ = in_ + offset(contract.input(self), contract.output(self).first);
      } else if (in < out) {
        in_ = out_ + offset(contract.output(self), contract.input(self).first);
      } else {
        out_ = in_;
      }
    }
    fill();
  }

  [[nodiscard]] Buffers buffers(const Plan& plan) {
    scratch_.resize(plan.scratch_bytes + 64);
    spare_.resize(plan.spare_bytes + 64);
    return {.input = reinterpret_cast<const std::byte*>(in_),
            .output = reinterpret_cast<std::byte*>(out_),
            .scratch = scratch_.data(),
            .spare = spare_.data()};
  }

  [[nodiscard]] std::string fault() const {
    const ChunkSeries series = contract_.output(self_);
    std::size_t at = 0;
    for (std::uint64_t c = 0; c < series.count; ++c) {
      for (std::uint64_t i = 0; i < layout_.size(series[c]); ++i, ++at) {
        if (out_[at] == promised(contract_, series[c], i)) continue;
        return "rank " + std::to_string(self_.index()) + " chunk " +
               std::to_string(series[c].index()) + " element " + std::to_string(i);
      }
    }
    return output_.back() == canary && input_.back() == canary ? "" : "wrote beyond a buffer";
  }

 private:
  static constexpr Element canary = 0xDEADBEEF;

  [[nodiscard]] std::size_t length(const ChunkSeries& series) const {
    return series.count == 0 ? 0 : offset(series, series[series.count]);
  }

  /// The number of elements before `chunk` in a buffer that holds the series.
  [[nodiscard]] std::size_t offset(const ChunkSeries& series, Chunk chunk) const {
    std::size_t before = 0;
    for (std::uint64_t i = 0; i < series.count && series[i] != chunk; ++i) {
      before += layout_.size(series[i]);
    }
    return before;
  }

  void fill() {
    const ChunkSeries series = contract_.input(self_);
    std::size_t at = 0;
    for (std::uint64_t c = 0; c < series.count; ++c) {
      for (std::uint64_t i = 0; i < layout_.size(series[c]); ++i) {
        in_[at++] = brought(self_.index(), series[c], i);
      }
    }
  }

  const Contract& contract_;
  const Layout& layout_;
  Rank self_;
  std::vector<Element> input_;
  std::vector<Element> output_;
  Element* in_;
  Element* out_;
  std::vector<std::byte> scratch_;
  std::vector<std::byte> spare_;
};

}  // namespace

std::string run_and_check(Crew& crew, const Schedule& schedule, const Layout& layout,
                          Aliasing aliasing, std::uint64_t segment) {
  std::string wrong;
  std::mutex mutex;
  crew.all([&](Rank self, Executor& executor) {
    const Plan plan = compile({.program = schedule.program(self),
                               .contract = schedule.contract,
                               .self = self,
                               .aliasing = aliasing,
                               .layout = layout,
                               .element_bytes = sizeof(Element),
                               .lanes = crew.lanes(),
                               .segment = segment});
    CallMemory memory(schedule.contract, layout, self, aliasing);
    Counters counters{.peers = std::vector<PeerCounters>(schedule.contract.ranks)};
    executor.run(plan, memory.buffers(plan),
                 {.fold = fold(DType::u32, Op::sum), .element_bytes = sizeof(Element)}, 60s,
                 counters);
    const std::string fault = memory.fault();
    const std::lock_guard lock(mutex);
    if (wrong.empty()) wrong = fault;
  });
  return wrong;
}

}  // namespace tutti::test
