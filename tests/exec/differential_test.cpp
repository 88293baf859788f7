#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "core/hash.hpp"
#include "support/crew.hpp"
#include "support/problems.hpp"
#include "support/sanitizer.hpp"

/// One call in every way in which the executor and the transports can run it: the memory of all
/// ranks and the counters must agree with the schedule, whatever the way.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;

// Small slots and slices, so that little data makes long pipelines.
constexpr Crew::Staging staging{.slots = 8, .slot_bytes = 4096};
constexpr std::size_t slice_bytes = 1024;

constexpr std::array every_sight{Sight::staged, Sight::direct, Sight::tcp, Sight::mixed,
                                 Sight::erratic};

/// Of a call. Sanitizers and a busy machine make calls slow.
constexpr auto timeout = is_sanitized ? 60s : 20s;

/// How the executor runs operations.
enum class Order {
  free,      ///< As their dependences allow.
  in_order,  ///< One after another, if the messages are short enough.
};
constexpr std::array every_order{Order::free, Order::in_order};

/// When the ranks come, and what they do afterwards.
enum class Pace {
  together,
  late,   ///< One rank comes when the others have been waiting.
  apart,  ///< Each rank comes some time after the one before it.
};

struct Case {
  Problem problem;
  std::size_t width;  ///< How many numbers an element has.
  Layout elements;
  Layout layout;  ///< The same in numbers.
  Aliasing aliasing;
  std::uint64_t segment;
  Pace pace;
  std::uint32_t late_rank;
};

/// What a rank is to send and receive, read off the schedule alone.
std::vector<PeerCounters> traffic(const Schedule& schedule, const Layout& layout, Rank self) {
  std::vector<PeerCounters> peers(schedule.contract.ranks);
  for (const Step& step : schedule.program(self)) {
    std::uint64_t bytes = 0;
    for (const ChunkRange& range : step.chunks) {
      for (std::uint64_t i = 0; i < range.count; ++i) {
        bytes += layout.size(Chunk{range.first.index() + i}) * sizeof(CallMemory::Element);
      }
    }
    for (const Rank peer : step.peers) {
      PeerCounters& counted = peers[peer];
      const bool sends = step.kind == Step::Kind::send;
      (sends ? counted.bytes_sent : counted.bytes_received) += bytes;
      if (bytes > 0) ++(sends ? counted.messages_sent : counted.messages_received);
    }
  }
  return peers;
}

/// The first difference, but for slices, in which ways may differ.
std::string difference(std::span<const PeerCounters> found, std::span<const PeerCounters> wanted) {
  for (std::size_t peer = 0; peer < wanted.size(); ++peer) {
    PeerCounters plain = found[peer];
    const bool has_slices = plain.slices_sent >= plain.messages_sent &&
                            plain.slices_received >= plain.messages_received;
    plain.slices_sent = plain.slices_received = 0;
    if (plain == wanted[peer] && has_slices) continue;
    return "to and from rank " + std::to_string(peer) + ": " + std::to_string(plain.bytes_sent) +
           " and " + std::to_string(plain.bytes_received) + " bytes in " +
           std::to_string(plain.messages_sent) + " and " + std::to_string(plain.messages_received) +
           " messages, not " + std::to_string(wanted[peer].bytes_sent) + " and " +
           std::to_string(wanted[peer].bytes_received) + " in " +
           std::to_string(wanted[peer].messages_sent) + " and " +
           std::to_string(wanted[peer].messages_received);
  }
  return "";
}

/// Adds elements of several numbers. They may be longer than a cache line, or not divide it.
Reduction::Combine adding(std::size_t width) {
  return [width](void* accumulator, const void* contribution, std::size_t count) {
    auto* const sum = static_cast<CallMemory::Element*>(accumulator);
    const auto* const more = static_cast<const CallMemory::Element*>(contribution);
    for (std::size_t i = 0; i < count * width; ++i) sum[i] += more[i];
  };
}

/// A rank's part of a call.
class Part {
 public:
  Part(Crew& crew, const Schedule& schedule, const Case& each, Order order, Rank self)
      : schedule_(schedule),
        layout_(each.layout),
        self_(self),
        plan_(compile({.program = schedule.program(self),
                       .contract = schedule.contract,
                       .self = self,
                       .aliasing = each.aliasing,
                       .layout = each.elements,
                       .element_bytes = each.width * sizeof(CallMemory::Element),
                       .lanes = crew.lanes(self),
                       .segment = each.segment})),
        memory_(schedule.contract, each.layout, self, each.aliasing),
        combine_(adding(each.width)),
        folding_({.fold = fold(DType::u32, Op::sum),
                  .combine = each.width > 1 ? &combine_ : nullptr,
                  .element_bytes = each.width * sizeof(CallMemory::Element)}) {
    if (order == Order::free) plan_.order.clear();
    counters_.peers.resize(schedule.contract.ranks);
  }

  void run(Executor& executor, Clock::duration timeout) {
    executor.run(plan_, memory_.buffers(plan_), folding_, timeout, counters_);
  }

  [[nodiscard]] std::string fault() const {
    std::string fault = memory_.fault();
    if (!fault.empty()) return fault;
    fault = difference(counters_.peers, traffic(schedule_, layout_, self_));
    if (fault.empty() && counters_.bytes_put > counters_.total().bytes_sent) {
      fault = "more bytes were put than sent";
    }
    return fault.empty() ? "" : "rank " + std::to_string(self_) + ", " + fault;
  }
  /// The rank is done: what others still read is lost.
  void spoil() { memory_.spoil(); }

 private:
  const Schedule& schedule_;
  const Layout& layout_;
  Rank self_;
  Plan plan_;
  CallMemory memory_;
  Reduction::Combine combine_;
  Folding folding_;
  Counters counters_{};
};

std::string name_of(const Case& each) {
  return words(each.problem) + ", chunks of " + std::to_string(each.layout.size(Chunk{0})) +
         ", segments of " + std::to_string(each.segment) + ", in place " +
         std::to_string(each.aliasing == Aliasing::in_place) + ", width " +
         std::to_string(each.width) + ", pace " + std::to_string(static_cast<int>(each.pace));
}

void come(const Case& each, Rank self) {
  if (each.pace == Pace::late && self == each.late_rank) std::this_thread::sleep_for(2ms);
  if (each.pace == Pace::apart) std::this_thread::sleep_for(self * 300us);
}

/// Runs the calls one after another, twice, each time with another tag: a rank that is early begins
/// the next call while others are in the one before it. Returns the first fault.
std::string fault_of(Crew& crew, const Schedule& schedule, std::span<const Case> cases,
                     Order order) {
  std::string wrong;
  std::mutex mutex;
  // Others may still read what a rank that failed has sent.
  std::vector<std::unique_ptr<Part>> failed;
  crew.all([&](Rank self, Executor& executor) {
    std::uint32_t call = 0;
    for (int round = 0; round < 2; ++round) {
      for (const Case& each : cases) {
        auto part = std::make_unique<Part>(crew, schedule, each, order, self);
        come(each, self);
        crew.begin(self, ++call);
        std::string fault;
        try {
          part->run(executor, timeout);
          fault = part->fault();
          part->spoil();
        } catch (const Error& error) {
          fault = std::string("rank ") + std::to_string(self) + ", " + error.what();
        }
        if (fault.empty()) continue;
        const std::lock_guard lock(mutex);
        if (wrong.empty()) wrong = name_of(each) + ", " + fault;
        failed.push_back(std::move(part));
        return;
      }
    }
  });
  return wrong;
}

/// Lengths of a message at which some way changes, in elements: what fits a descriptor, a slice, a
/// slot, and what is read in place or copied once.
const std::vector<std::uint64_t> lengths{0,   1,    11,   12,   13,   255,   256,
                                         257, 1023, 1024, 1025, 2048, 16384, 16390};

/// Numbers per element: slices split elements of 12 and of 100 bytes.
constexpr std::array<std::size_t, 3> widths{1, 3, 25};

Layout times(const Layout& layout, std::size_t factor) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t i = 0; i < layout.chunks(); ++i) {
    sizes.push_back(layout.size(Chunk{i}) * factor);
  }
  return Layout::counted(sizes);
}

Case random_case(const Algorithm& algorithm, const Problem& problem, const Contract& contract,
                 std::size_t width, Random& random) {
  const bool has_data = algorithm.collective != Collective::barrier;
  // Each slice takes a switch from rank to rank if there are more ranks than cores.
  const std::uint64_t most_of_all = problem.ranks > 2 ? 16384 : 65536;
  const std::uint64_t most = most_of_all / contract.chunks / width;
  const std::uint64_t length = has_data ? std::min(most, random.pick(lengths)) : 0;
  const bool is_even = !has_data || random.below(3U) > 0;
  const bool may_be_in_place = is_even || algorithm.collective != Collective::alltoall;
  const Layout elements = is_even ? Layout::equal(contract.chunks, length * contract.chunks)
                                  : random_layout(contract.chunks, random);
  return {
      .problem = problem,
      .width = width,
      .elements = elements,
      .layout = times(elements, width),
      .aliasing = may_be_in_place && random.one_in(2) ? Aliasing::in_place : Aliasing::out_of_place,
      // A dozen segments show what hundreds would.
      .segment = random.one_in(3) ? std::max<std::uint64_t>(64, length / 768 * 64) : 0,
      .pace = static_cast<Pace>(random.below(3U)),
      .late_rank = random.below(problem.ranks)};
}

/// TUTTI_SEEDS=100 in the environment tries more.
int cases_per_size() {
  const char* const text = std::getenv("TUTTI_SEEDS");
  if (text != nullptr) return std::atoi(text);
  return is_sanitized ? 2 : 3;
}

class EveryWay : public ::testing::TestWithParam<const Algorithm*> {};

TEST_P(EveryWay, GivesTheSame) {
  const Algorithm& algorithm = *GetParam();
  Random random(hash_of(algorithm.name));
  for (const std::uint32_t p : {2U, 3U, 5U}) {
    const std::vector<Problem> all = problems(algorithm, p);
    const Problem& problem = random.pick(all);
    const Schedule schedule = algorithm.schedule(problem);
    std::vector<Case> cases;
    for (int i = 0; i < cases_per_size(); ++i) {
      cases.push_back(random_case(algorithm, problem, schedule.contract,
                                  widths[static_cast<std::size_t>(i) % widths.size()], random));
    }
    for (const Sight sight : every_sight) {
      for (const Order order : every_order) {
        Crew crew(p, sight, staging, slice_bytes);
        ASSERT_EQ(fault_of(crew, schedule, cases, order), "")
            << "sight " << static_cast<int>(sight) << ", order " << static_cast<int>(order);
      }
    }
  }
}

/// Some messages fill the staging memory, and others are short. A rank whose sends were all taken
/// must not wait for one peer while others wait for it to read theirs.
TEST_P(EveryWay, GivesTheSameWithLongAndShortMessages) {
  const Algorithm& algorithm = *GetParam();
  if (algorithm.collective == Collective::barrier) GTEST_SKIP() << "a barrier has no data";
  Random random(hash_of(algorithm.name) + 2);
  const std::vector<std::uint64_t> some{0, 5, 300, 2398, 5000};
  constexpr std::uint32_t p = 5;
  const Problem problem = problems(algorithm, p).back();
  const Schedule schedule = algorithm.schedule(problem);
  for (int i = 0; i < (is_sanitized ? 2 : 6); ++i) {
    std::vector<std::uint64_t> sizes(schedule.contract.chunks);
    for (std::uint64_t& size : sizes) size = random.pick(some);
    const Layout layout = Layout::counted(sizes);
    const bool may_be_in_place = algorithm.collective != Collective::alltoall;
    const Case each{.problem = problem,
                    .width = 1,
                    .elements = layout,
                    .layout = layout,
                    .aliasing = may_be_in_place ? Aliasing::in_place : Aliasing::out_of_place,
                    .segment = 0,
                    .pace = static_cast<Pace>(random.below(3U)),
                    .late_rank = random.below(p)};
    for (const Sight sight : {Sight::staged, Sight::mixed}) {
      Crew crew(p, sight, staging, slice_bytes);
      ASSERT_EQ(fault_of(crew, schedule, {&each, 1}, Order::in_order), "")
          << "sight " << static_cast<int>(sight);
    }
  }
}

/// A rank dies in a call, at any step. The others end with the right data, or say who is lost.
TEST_P(EveryWay, EndsWhenARankDies) {
  const Algorithm& algorithm = *GetParam();
  Random random(hash_of(algorithm.name) + 1);
  constexpr std::uint32_t p = 3;
  const std::vector<Problem> all = problems(algorithm, p);
  const Problem& problem = random.pick(all);
  const Schedule schedule = algorithm.schedule(problem);
  for (int i = 0; i < (is_sanitized ? 2 : 4); ++i) {
    const Case each = random_case(algorithm, problem, schedule.contract, widths.back(), random);
    const std::uint32_t mortal = random.below(p);
    Crew::set_temper(
        {.seed = random.bits(), .steps_to_live = 1 + random.below(12U), .mortal = mortal});
    Crew crew(p, Sight::erratic, staging, slice_bytes);
    Crew::set_temper({.seed = random.bits()});
    crew.all([&](Rank self, Executor& executor) {
      Part part(crew, schedule, each, every_order[i % every_order.size()], self);
      crew.begin(self, 1);
      try {
        part.run(executor, 300ms);
        EXPECT_EQ(part.fault(), "") << name_of(each);
      } catch (const Error& error) {
        const bool names_a_loss =
            error.code() == ErrorCode::peer_lost || error.code() == ErrorCode::timed_out;
        EXPECT_TRUE(names_a_loss || self == mortal) << error.what() << name_of(each);
      }
      // As a communicator does before it returns the caller's memory.
      Port& port = crew.port(self);
      port.revoke();
      while (port.is_exposed([](Rank) { return false; })) std::this_thread::sleep_for(1ms);
      port.abandon();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Differential, EveryWay, ::testing::ValuesIn(every_algorithm()),
                         [](const auto& each) { return test_name(*each.param); });

}  // namespace
}  // namespace tutti::test
