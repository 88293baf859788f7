#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/schedule/closed_form.hpp>

#include "support/errors.hpp"
#include "support/problems.hpp"

namespace tutti::test {
namespace {

/// Models in which only latency counts, only bandwidth counts, everything counts, and adding is
/// slower than sending.
constexpr CostModel models[] = {
    {.link = {.alpha = 1e-5, .beta = 1e-12}},
    {.link = {.alpha = 1e-9, .beta = 1e-9}},
    {.link = {.alpha = 1e-6, .beta = 1e-9}, .gamma = 2e-10},
    {.link = {.alpha = 2e-8, .beta = 1e-10}, .gamma = 1e-9},
};

constexpr Ports both_ports[] = {Ports::one, Ports::unlimited};

/// 1000 bytes per chunk.
std::uint64_t divisible_size(const Algorithm& algorithm, const Problem& problem) {
  const bool pairs = algorithm.collective == Collective::alltoall;
  return 1000 * (pairs ? problem.ranks : algorithm.chunk_count(problem));
}

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(a, b); }

/// Every problem with p ranks, but only some of many roots and, beyond 64 ranks, of many shapes.
std::vector<Problem> some_problems(const Algorithm& algorithm, std::uint32_t p) {
  std::vector<Problem> found = problems(algorithm, p);
  std::erase_if(found, [&](const Problem& problem) {
    const std::uint32_t root = problem.root;
    const bool is_in_sample =
        root < 2 || root == p / 2 || root == p - 3 || root == p - 2 || root == p - 1;
    return (p > 16 && !is_in_sample) || (p > 64 && problem.shape.dimensions.size() > 2);
  });
  return found;
}

void expect_figures(const Algorithm& algorithm, const Problem& problem) {
  const Schedule schedule = algorithm.schedule(problem);
  const std::uint64_t n = divisible_size(algorithm, problem);
  const Figures counted = count(schedule, even_layout(schedule.contract, n));
  const Figures formula = closed_form(algorithm.name).figures(algorithm.completed(problem), n);
  EXPECT_EQ(formula.rounds, counted.rounds);
  EXPECT_EQ(formula.messages, counted.messages);
  EXPECT_EQ(formula.bytes, counted.bytes);
  EXPECT_EQ(formula.reduced, counted.reduced);
  EXPECT_EQ(formula.most_sent, counted.most_sent);
  EXPECT_EQ(formula.most_received, counted.most_received);
  EXPECT_EQ(formula.most_reduced, counted.most_reduced);
  EXPECT_EQ(formula.most_in_a_round, counted.most_in_a_round);
}

void expect_times(const Algorithm& algorithm, const Problem& problem) {
  const Schedule schedule = algorithm.schedule(problem);
  const Pricer pricer(schedule);
  const std::uint64_t n = divisible_size(algorithm, problem);
  const Layout layout = even_layout(schedule.contract, n);
  for (const CostModel& model : models) {
    // Pricing large schedules takes long, so only one model is used, in which everything counts.
    if (problem.ranks > 64 && &model != &models[2]) continue;
    for (const Ports ports : both_ports) {
      const auto formula =
          closed_form(algorithm.name)
              .time(algorithm.completed(problem), n, model.link, model.gamma, ports);
      if (!formula) continue;
      const double priced = pricer.price(layout, model, ports).seconds;
      EXPECT_TRUE(is_near(*formula, priced))
          << "formula " << *formula << ", priced " << priced << ", model " << &model - models
          << (ports == Ports::one ? ", one port" : ", unlimited ports");
    }
  }
}

/// Calls expect(algorithm, problem) for problems of p ranks of each algorithm that has a closed
/// form, until one fails.
template <class Expect>
void for_each_problem(std::uint32_t p, Expect expect) {
  for (const ClosedForm& form : closed_forms()) {
    const Algorithm& algorithm = tutti::algorithm(form.algorithm);
    for (const Problem& problem : some_problems(algorithm, p)) {
      SCOPED_TRACE(std::string(algorithm.name) + " " + words(problem));
      expect(algorithm, problem);
      if (testing::Test::HasFailure()) return;
    }
  }
}

/// Other values of parameters than usual.
TEST(ClosedForm, HoldsForOtherValues) {
  for (const ClosedForm& form : closed_forms()) {
    for (const Algorithm* each : variants(algorithm(form.algorithm))) {
      for (const std::uint32_t p : {2U, 3U, 4U, 5U, 6U, 8U, 9U, 12U, 16U, 27U}) {
        for (const Problem& problem : problems(*each, p)) {
          if (each->name == form.algorithm || problem.root > 0) continue;
          SCOPED_TRACE(std::string(each->name) + " " + words(problem));
          expect_figures(*each, problem);
          expect_times(*each, problem);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

/// Some algorithms have no closed form.
TEST(ClosedForm, FollowsTheOrderOfTheTable) {
  std::size_t next = 0;
  for (const ClosedForm& form : closed_forms()) {
    const auto found =
        std::ranges::find(algorithms().subspan(next), form.algorithm, &Algorithm::name);
    ASSERT_NE(found, algorithms().end()) << form.algorithm;
    next = static_cast<std::size_t>(&*found - algorithms().data()) + 1;
    for (const std::string_view text :
         {form.rounds, form.bytes, form.most_in_a_round, form.seconds}) {
      EXPECT_FALSE(text.empty()) << form.algorithm;
    }
  }
}

TEST(ClosedForm, IsFoundByName) {
  EXPECT_EQ(&closed_form("broadcast/flat"), closed_forms().data());
  expect_error([] { (void)closed_form("broadcast/flatt"); }, ErrorCode::invalid_argument,
               "Did you mean 'broadcast/flat'?");
  EXPECT_EQ(find_closed_form("broadcast/flat"), closed_forms().data());
  EXPECT_EQ(find_closed_form("broadcast/flatt"), nullptr);
}

TEST(ClosedForm, FiguresEqualTheCountedOnes) {
  for (std::uint32_t p = 1; p <= 32; ++p) for_each_problem(p, expect_figures);
}

TEST(ClosedForm, TimesEqualThePrice) {
  for (std::uint32_t p = 1; p <= 24; ++p) for_each_problem(p, expect_times);
}

TEST(SlowClosedForm, FiguresEqualTheCountedOnes) {
  for (std::uint32_t p = 33; p <= 64; ++p) for_each_problem(p, expect_figures);
  for (const std::uint32_t p : {127U, 128U, 200U, 256U}) for_each_problem(p, expect_figures);
}

TEST(SlowClosedForm, TimesEqualThePrice) {
  for (std::uint32_t p = 25; p <= 64; ++p) for_each_problem(p, expect_times);
  for (const std::uint32_t p : {127U, 128U, 200U, 256U}) for_each_problem(p, expect_times);
}

// Where there is no formula for the time ---------------------------------------------------------

struct Call {
  std::uint32_t p;
  Ports ports;
  double gamma;
};

bool is_no_power(const Call& call) { return !std::has_single_bit(call.p); }

struct Missing {
  std::string_view algorithm;
  bool (*when)(const Call& call);
  int how_often;  ///< Among 1 … 256 ranks, one port or unlimited ports, adding free or not.
};

constexpr Missing missing[] = {
    {"broadcast/double_tree",
     [](const Call& call) { return call.ports == Ports::one && call.p == 11; }, 2},
    {"allgather/recursive_doubling",
     [](const Call& call) { return call.ports == Ports::unlimited && is_no_power(call); }, 494},
    {"allgather/sparbit",
     [](const Call& call) { return call.ports == Ports::unlimited && is_no_power(call); }, 494},
    {"allgather/pat", [](const Call& call) { return call.ports == Ports::unlimited && call.p > 2; },
     508},
    {"reduce/knomial",
     [](const Call& call) {
       const bool is_full = call.p <= 4 || call.p == 16 || call.p == 64 || call.p == 256;
       return call.gamma > 0 && !is_full;
     },
     498},
    {"reduce/double_tree",
     [](const Call& call) {
       return call.ports == Ports::one && call.p > 3 && std::has_single_bit(call.p + 1);
     },
     12},
    {"allreduce/recursive_doubling",
     [](const Call& call) {
       return (call.ports == Ports::unlimited || call.gamma > 0) && is_no_power(call);
     },
     741},
    {"allreduce/halving_doubling", is_no_power, 988},
    {"allreduce/double_tree",
     [](const Call& call) {
       const bool lacks_one_or_two =
           std::has_single_bit(call.p + 2) || std::has_single_bit(call.p + 3);
       return call.ports == Ports::one && (call.p == 3 || (call.p > 4 && lacks_one_or_two));
     },
     26},
    {"reduce_scatter/recursive_halving", is_no_power, 988},
};

/// Calls f(form, call) for each way to ask for a time.
template <class F>
void for_each_call(F f) {
  for (const ClosedForm& form : closed_forms()) {
    for (std::uint32_t p = 1; p <= 256; ++p) {
      for (const Ports ports : both_ports) {
        for (const double gamma : {0.0, 1e-10}) f(form, Call{p, ports, gamma});
      }
    }
  }
}

bool has_time(const ClosedForm& form, const Call& call) {
  const Algorithm& of = algorithm(form.algorithm);
  const Problem problem{
      .ranks = call.p, .root = {}, .shape = of.needs_shape() ? squarest(call.p) : Shape{}};
  const LinkCost link{.alpha = 1e-6, .beta = 1e-9};
  return form.time(of.completed(problem), divisible_size(of, problem), link, call.gamma, call.ports)
      .has_value();
}

TEST(ClosedForm, TimeIsMissingOnlyInKnownCases) {
  for_each_call([](const ClosedForm& form, const Call& call) {
    const auto line =
        std::find_if(std::begin(missing), std::end(missing),
                     [&](const Missing& each) { return each.algorithm == form.algorithm; });
    const bool expected = line == std::end(missing) || !line->when(call);
    EXPECT_EQ(has_time(form, call), expected)
        << form.algorithm << " p=" << call.p << " gamma=" << call.gamma
        << (call.ports == Ports::one ? ", one port" : ", unlimited ports");
  });
}

TEST(ClosedForm, CountsMissingTimes) {
  std::map<std::string_view, int> found;
  for_each_call([&](const ClosedForm& form, const Call& call) {
    if (!has_time(form, call)) ++found[form.algorithm];
  });
  std::map<std::string_view, int> expected;
  for (const Missing& each : missing) expected[each.algorithm] = each.how_often;
  EXPECT_EQ(found, expected);
}

TEST(ClosedForm, StatesMissingTimesForOnePort) {
  std::map<std::string_view, bool> is_missing;
  for_each_call([&](const ClosedForm& form, const Call& call) {
    is_missing[form.algorithm] |= call.ports == Ports::one && !has_time(form, call);
  });
  for (const ClosedForm& form : closed_forms()) {
    const bool says_so = form.seconds.find("no formula") != std::string_view::npos;
    EXPECT_EQ(says_so, is_missing[form.algorithm]) << form.algorithm << ": " << form.seconds;
  }
}

// The textbook ------------------------------------------------------------------------------------

constexpr LinkCost textbook_link{.alpha = 3e-6, .beta = 2e-9};
constexpr double alpha = textbook_link.alpha;
constexpr double beta = textbook_link.beta;

/// A row of the textbook's table: log_p is ⌈log₂ p⌉, n the size of a rank's larger buffer in bytes.
struct Textbook {
  std::string_view algorithm;
  double (*seconds)(double p, double log_p, double n, double gamma);
};

constexpr Textbook for_every_p[] = {
    {"broadcast/binomial",
     [](double, double log_p, double n, double) { return log_p * (alpha + n * beta); }},
    {"broadcast/scatter_allgather",
     [](double p, double log_p, double n, double) {
       return (log_p + p - 1) * alpha + 2 * (p - 1) / p * n * beta;
     }},
    {"reduce/reduce_scatter_gather",
     [](double p, double log_p, double n, double gamma) {
       return (log_p + p - 1) * alpha + 2 * (p - 1) / p * n * beta + (p - 1) / p * n * gamma;
     }},
    {"scatter/binomial", [](double p, double log_p, double n,
                            double) { return log_p * alpha + (p - 1) / p * n * beta; }},
    {"gather/binomial", [](double p, double log_p, double n,
                           double) { return log_p * alpha + (p - 1) / p * n * beta; }},
    {"allgather/gather_broadcast",
     [](double p, double log_p, double n, double) {
       return log_p * alpha + (p - 1) / p * n * beta + log_p * (alpha + n * beta);
     }},
    {"allgather/ring",
     [](double p, double, double n, double) { return (p - 1) * alpha + (p - 1) / p * n * beta; }},
    {"reduce_scatter/ring",
     [](double p, double, double n, double gamma) {
       return (p - 1) * alpha + (p - 1) / p * n * (beta + gamma);
     }},
    {"allreduce/ring",
     [](double p, double, double n, double gamma) {
       return 2 * (p - 1) * alpha + (p - 1) / p * n * (2 * beta + gamma);
     }},
    {"alltoall/pairwise",  // The textbook's n is per pair: n/p here.
     [](double p, double, double n, double) { return (p - 1) * (alpha + n / p * beta); }},
};

/// Valid for powers of two and, if adding is free, for every p. For other p some rank has fewer
/// children than the textbook assumes, and adds while the next message is in flight.
constexpr Textbook by_trees[] = {
    {"reduce/binomial", [](double, double log_p, double n,
                           double gamma) { return log_p * (alpha + n * beta + n * gamma); }},
    {"allreduce/binomial",
     [](double, double log_p, double n, double gamma) {
       return 2 * log_p * alpha + log_p * n * (2 * beta + gamma);
     }},
    {"reduce_scatter/reduce_then_scatter",
     [](double p, double log_p, double n, double gamma) {
       return log_p * (alpha + n * beta + n * gamma) + log_p * alpha + (p - 1) / p * n * beta;
     }},
};

constexpr Textbook for_powers_of_two[] = {
    {"allreduce/halving_doubling",
     [](double p, double log_p, double n, double gamma) {
       return 2 * log_p * alpha + (p - 1) / p * n * (2 * beta + gamma);
     }},
    {"alltoall/bruck",
     [](double, double log_p, double n, double) { return log_p * (alpha + n / 2 * beta); }},
};

constexpr double slow_adding = 5e-10;

struct Compared {
  double formula;
  double textbook;
};

Compared compare(const Textbook& line, std::uint32_t p, double gamma) {
  const std::uint64_t n = std::uint64_t{p} * 1000;
  const auto formula =
      closed_form(line.algorithm)
          .time({.ranks = p, .root = {}, .shape = {}}, n, textbook_link, gamma, Ports::one);
  const double log_p = std::bit_width(p - 1);
  return {formula.value_or(-1), line.seconds(p, log_p, static_cast<double>(n), gamma)};
}

void expect_textbook(const Textbook& line, std::uint32_t p, double gamma) {
  const auto [formula, textbook] = compare(line, p, gamma);
  EXPECT_TRUE(is_near(formula, textbook))
      << line.algorithm << " p=" << p << ": formula " << formula << ", textbook " << textbook;
}

TEST(ClosedForm, EqualsTheTextbookForAnyP) {
  for (std::uint32_t p = 1; p <= 1000; ++p) {
    for (const Textbook& line : for_every_p) expect_textbook(line, p, slow_adding);
    for (const Textbook& line : by_trees) expect_textbook(line, p, 0);
  }
}

TEST(ClosedForm, EqualsTheTextbookForPowersOfTwo) {
  for (std::uint32_t p = 1; p <= 65536; p *= 2) {
    for (const Textbook& line : by_trees) expect_textbook(line, p, slow_adding);
    for (const Textbook& line : for_powers_of_two) expect_textbook(line, p, slow_adding);
  }
}

TEST(ClosedForm, TreesAreNeverSlowerThanTheTextbook) {
  for (const Textbook& line : by_trees) {
    for (std::uint32_t p = 1; p <= 1000; ++p) {
      for (const double gamma : {0.1 * beta, beta, 10 * beta}) {
        const auto [formula, textbook] = compare(line, p, gamma);
        EXPECT_LE(formula, textbook * (1 + 1e-12)) << line.algorithm << " p=" << p;
      }
    }
  }
}

}  // namespace
}  // namespace tutti::test
