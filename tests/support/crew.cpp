#include "support/crew.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include "support/erratic/erratic_port.hpp"
#include "support/tcp_ranks.hpp"
#include "transport/inproc/thread_memory.hpp"
#include "transport/inproc/thread_view.hpp"
#include "transport/mixed_port.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// Tests have more ranks than cores, so spinning wastes time.
constexpr Patience impatient{.spins = 10, .yields = 200};

erratic::Temper next_temper;

/// Long enough that no rank times out.
class SilentAlarm final : public Alarm {
  [[nodiscard]] std::optional<Error> ring(std::span<const std::uint32_t> /*awaited*/) override {
    return std::nullopt;
  }
};

}  // namespace

/// Its memory transport, its TCP transport, or both; and one port over them.
class Crew::Member {
 public:
  explicit Member(const Membership& membership) : membership_(membership) {}

  /// Returns the offer to the ranks that share the memory.
  [[nodiscard]] std::uint64_t share_memory(MemoryTransport::Setting setting,
                                           std::shared_ptr<Doorbells> doorbells) {
    locals_ = setting.locals;
    doorbells_ = std::move(doorbells);
    setting.doorbells = doorbells_.get();
    memory_ = std::make_unique<MemoryTransport>(std::move(setting));
    return memory_->offer(membership_);
  }
  void open_memory(std::span<const std::uint64_t> offers) {
    ports_.push_back(memory_->open(membership_, offers));
  }
  void join_by_tcp(TcpRanks& all) {
    tcp_ = all.transport(membership_.self, doorbells_);
    ports_.push_back(tcp_->another_port(membership_.context));
  }
  void join(const std::shared_ptr<erratic::Network>& network, const erratic::Temper& temper) {
    ports_.push_back(std::make_unique<erratic::ErraticPort>(network, membership_, temper));
  }
  void open(std::size_t slice_bytes) {
    if (ports_.size() == 1) {
      port_ = std::move(ports_.front());
    } else {
      std::vector<std::uint8_t> ways(membership_.size(), 1);
      for (const std::uint32_t local : locals_) ways[local] = 0;
      port_ = std::make_unique<MixedPort>(std::move(ports_), std::move(ways));
    }
    executor_.emplace(*port_, alarm_, membership_.size(), slice_bytes);
    slice_bytes_ = slice_bytes;
    begin(0);
  }
  /// All data that can be read in place is.
  void begin(std::uint32_t tag) {
    port_->begin(tag, {.zero_copy_from = 0, .staged_at_a_time = slice_bytes_});
  }
  [[nodiscard]] std::span<const std::uint32_t> lanes() const { return port_->lanes(); }
  [[nodiscard]] const std::shared_ptr<Doorbells>& doorbells() const { return doorbells_; }
  [[nodiscard]] Executor& executor() { return *executor_; }
  [[nodiscard]] Port& port() { return *port_; }

 private:
  Membership membership_;
  std::vector<std::uint32_t> locals_;
  std::shared_ptr<Doorbells> doorbells_;
  std::unique_ptr<MemoryTransport> memory_;
  std::unique_ptr<TcpEnd> tcp_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::unique_ptr<Port> port_;
  std::size_t slice_bytes_ = 0;
  SilentAlarm alarm_;
  std::optional<Executor> executor_;
};

Crew::Crew(std::uint32_t ranks, Sight sight, Staging staging, std::size_t slice_bytes) {
  std::vector<std::uint32_t> everyone(ranks);
  std::iota(everyone.begin(), everyone.end(), 0);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    members_.push_back(std::make_unique<Member>(
        Membership{.context = TcpEnd::context + 1, .self = r, .members = everyone}));
  }
  if (sight == Sight::mixed) {
    const std::span all(everyone);
    for (const auto half : {all.first(ranks / 2), all.subspan(ranks / 2)}) {
      if (!half.empty()) share_memory(half, sight, staging);
    }
  } else if (sight == Sight::erratic) {
    join_erratically();
  } else if (sight != Sight::tcp) {
    share_memory(everyone, sight, staging);
  }
  if (sight == Sight::tcp || sight == Sight::mixed) join_by_tcp();
  for (const auto& member : members_) member->open(slice_bytes);
}

void Crew::share_memory(std::span<const std::uint32_t> ranks, Sight sight, Staging staging) {
  constexpr std::size_t stripe = std::size_t{8} << 20;
  static ThreadView view;
  memory_.push_back(std::make_unique<ThreadMemory>(Arena::size(stripe, ranks.size())));
  std::vector<std::uint64_t> offers(members_.size());
  std::vector<Doorbells::Address> addresses;
  for (std::uint32_t place = 0; place < ranks.size(); ++place) {
    const auto doorbells = sight == Sight::mixed ? std::make_shared<Doorbells>() : nullptr;
    if (doorbells) addresses.push_back(doorbells->address());
    offers[ranks[place]] =
        members_[ranks[place]]->share_memory({.base = memory_.back()->data(),
                                              .stripe_bytes = stripe,
                                              .self = place,
                                              .locals = {ranks.begin(), ranks.end()},
                                              .view = sight == Sight::staged ? nullptr : &view,
                                              .patience = impatient,
                                              .has_ended = [](std::uint32_t) { return false; },
                                              .outbox_slots = staging.slots,
                                              .slot_bytes = staging.slot_bytes},
                                             doorbells);
  }
  for (const std::uint32_t rank : ranks) {
    if (members_[rank]->doorbells()) members_[rank]->doorbells()->set_addresses(addresses);
    members_[rank]->open_memory(offers);
  }
}

void Crew::join_erratically() {
  const auto network = std::make_shared<erratic::Network>(ranks());
  for (const auto& member : members_) member->join(network, next_temper);
  ++next_temper.seed;
}

void Crew::set_temper(const erratic::Temper& wanted) { next_temper = wanted; }

void Crew::join_by_tcp() {
  TcpRanks all(ranks());
  all.patience = impatient;
  for (const auto& member : members_) member->join_by_tcp(all);
}

Port& Crew::port(Rank rank) { return members_[rank]->port(); }

void Crew::begin(Rank rank, std::uint32_t tag) { members_[rank]->begin(tag); }

std::span<const std::uint32_t> Crew::lanes(Rank rank) const { return members_[rank]->lanes(); }

Crew::~Crew() { members_.clear(); }

std::uint32_t Crew::ranks() const { return static_cast<std::uint32_t>(members_.size()); }

void Crew::all(const std::function<void(Rank, Executor&)>& work) {
  std::exception_ptr failure;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (std::uint32_t r = 0; r < ranks(); ++r) {
    threads.emplace_back([&, r] {
      try {
        work(r, members_[r]->executor());
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

using Element = CallMemory::Element;

Element brought(std::uint32_t rank, Chunk chunk, std::uint64_t i) {
  return rank * 1000003U + static_cast<Element>(chunk.index()) * 10007U +
         static_cast<Element>(i) * 31U + 1U;
}

Element promised(const Contract& contract, Chunk chunk, std::uint64_t i) {
  const std::optional<Rank> origin = contract.origin(chunk);
  if (origin) return brought(*origin, chunk, i);
  Element sum = 0;
  for (std::uint32_t r = 0; r < contract.ranks; ++r) sum += brought(r, chunk, i);
  return sum;
}

}  // namespace

CallMemory::CallMemory(const Contract& contract, const Layout& layout, Rank self, Aliasing aliasing)
    : contract_(contract), layout_(layout), self_(self) {
  const std::size_t in = length(contract.input(self));
  const std::size_t out = length(contract.output(self));
  input_.assign(in + 1, canary);
  output_.assign(out + 1, canary);
  in_ = input_.data();
  out_ = output_.data();
  if (aliasing == Aliasing::in_place && in > 0 && out > 0) {
    // In place: the shorter buffer lies inside the longer one, at the place of its first chunk.
    const bool is_input_longer =
        in > out || (in == out && contract.input(self).count > contract.output(self).count);
    if (is_input_longer) {
      out_ = in_ + offset(contract.input(self), contract.output(self).first);
    } else if (in < out || contract.input(self).count < contract.output(self).count) {
      in_ = out_ + offset(contract.output(self), contract.input(self).first);
    } else {
      out_ = in_;
    }
  }
  fill();
}

Buffers CallMemory::buffers(const Plan& plan) {
  scratch_.resize(plan.scratch_bytes + 64);
  spare_.resize(plan.spare_bytes + 64);
  return {.input = reinterpret_cast<const std::byte*>(in_),
          .output = reinterpret_cast<std::byte*>(out_),
          .scratch = scratch_.data(),
          .spare = spare_.data()};
}

std::string CallMemory::fault() const {
  const ChunkSeries series = contract_.output(self_);
  std::size_t at = 0;
  for (std::uint64_t c = 0; c < series.count; ++c) {
    for (std::uint64_t i = 0; i < layout_.size(series[c]); ++i, ++at) {
      if (out_[at] == promised(contract_, series[c], i)) continue;
      return "rank " + std::to_string(self_) + " chunk " + std::to_string(series[c].index()) +
             " element " + std::to_string(i);
    }
  }
  return output_.back() == canary && input_.back() == canary ? "" : "wrote beyond a buffer";
}

void CallMemory::spoil() {
  for (auto* const buffer : {&input_, &output_}) std::fill(buffer->begin(), buffer->end(), ~canary);
  for (auto* const buffer : {&scratch_, &spare_}) {
    std::fill(buffer->begin(), buffer->end(), std::byte{0x5A});
  }
}

std::size_t CallMemory::length(const ChunkSeries& series) const {
  return series.count == 0 ? 0 : offset(series, series[series.count]);
}

/// The number of elements before `chunk` in a buffer that holds the series.
std::size_t CallMemory::offset(const ChunkSeries& series, Chunk chunk) const {
  std::size_t before = 0;
  for (std::uint64_t i = 0; i < series.count && series[i] != chunk; ++i) {
    before += layout_.size(series[i]);
  }
  return before;
}

void CallMemory::fill() {
  const ChunkSeries series = contract_.input(self_);
  std::size_t at = 0;
  for (std::uint64_t c = 0; c < series.count; ++c) {
    for (std::uint64_t i = 0; i < layout_.size(series[c]); ++i) {
      in_[at++] = brought(self_, series[c], i);
    }
  }
}

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
                               .lanes = crew.lanes(self),
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
