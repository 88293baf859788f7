#include <algorithm>
#include <cstdio>
#include <map>

#include <gtest/gtest.h>

#include <tutti/schedule/schedule_json.hpp>
#include <tutti/schedule/verify.hpp>

#include "support/damage.hpp"
#include "support/interpreter.hpp"
#include "support/placed_run.hpp"
#include "support/problems.hpp"
#include "support/variant_schedules.hpp"

namespace tutti::test {
namespace {

/// The outcomes of one kind of damage.
struct Tally {
  std::uint64_t applied = 0;
  std::uint64_t changed_meaning = 0;
  std::uint64_t caught = 0;    // Of those that changed the result.
  std::uint64_t stricter = 0;  // Rejected although the results are correct: rounds, races.

  Tally& operator+=(const Tally& other) {
    applied += other.applied;
    changed_meaning += other.changed_meaning;
    caught += other.caught;
    stricter += other.stricter;
    return *this;
  }
};

/// What is wrong with the result of the schedule; empty if nothing is. A schedule that verify()
/// passes must also be correct in memory, for any order within a round.
std::string fault_in_effect(const Schedule& schedule, bool passed, std::uint64_t seed) {
  std::string fault = fault_in_meaning(schedule, seed);
  if (fault.empty()) fault = difference_in_bits(schedule, seed);
  for (const Aliasing aliasing : {Aliasing::out_of_place, Aliasing::in_place}) {
    if (passed && fault.empty()) fault = fault_in_memory(schedule, aliasing, seed);
  }
  return fault;
}

/// Compares verify() with the oracles on a damaged schedule.
void judge(const Schedule& damaged, const std::string& how, std::uint64_t seed, Tally& tally) {
  const Verification verdict = verify(damaged);
  const std::string fault = fault_in_effect(damaged, verdict.ok(), seed);
  ++tally.applied;
  if (fault.empty()) {
    tally.stricter += verdict.ok() ? 0 : 1;
    return;
  }
  ++tally.changed_meaning;
  tally.caught += verdict.ok() ? 0 : 1;
  EXPECT_FALSE(verdict.ok()) << "verify() passes " << damaged.name << " after " << how
                             << " with seed " << seed << ", but: " << fault << "\n"
                             << to_json(damaged);
}

/// Calls f(schedule, random) for random problems of every algorithm, `repeats` for each p.
template <class F>
void for_schedules(std::uint32_t first_p, std::uint32_t last_p, std::uint64_t repeats, F f) {
  std::uint64_t seed = 0;
  for (const Algorithm& algorithm : algorithms()) {
    for (std::uint32_t p = first_p; p <= last_p; ++p) {
      for (std::uint64_t i = 0; i < repeats; ++i) {
        Random random(++seed);
        f(algorithm.schedule(random.pick(problems(algorithm, p))), random);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

/// The same for schedules with local steps and variants of chunks.
template <class F>
void for_variant_schedules(std::uint32_t last_p, std::uint64_t repeats, F f) {
  std::uint64_t seed = 0;
  for (std::uint32_t p = 2; p <= last_p; ++p) {
    for (const Schedule& schedule : variant_schedules(p)) {
      for (std::uint64_t i = 0; i < repeats; ++i) {
        Random random(++seed);
        f(schedule, random);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

using Tallies = std::map<std::string_view, Tally>;

void print(const Tallies& tallies, const Tally& total) {
  const auto line = [](std::string_view name, const Tally& tally) {
    std::printf("%-28.*s %9llu %9llu %9llu %9llu\n", static_cast<int>(name.size()), name.data(),
                static_cast<unsigned long long>(tally.applied),
                static_cast<unsigned long long>(tally.changed_meaning),
                static_cast<unsigned long long>(tally.caught),
                static_cast<unsigned long long>(tally.stricter));
  };
  std::printf("%-28s %9s %9s %9s %9s\n", "damage", "applied", "changed", "caught", "stricter");
  for (const Damage& damage : damages()) {
    // The table has no local steps that could be damaged.
    if (tallies.contains(damage.name)) line(damage.name, tallies.at(damage.name));
  }
  line("all", total);
}

void record(std::string_view name, const Tally& tally) {
  const auto property = [&](const char* what, std::uint64_t count) {
    testing::Test::RecordProperty(std::string(name) + ": " + what, std::to_string(count));
  };
  property("applied", tally.applied);
  property("changed", tally.changed_meaning);
  property("caught", tally.caught);
  property("stricter", tally.stricter);
}

void damage_once(std::uint32_t first_p, std::uint32_t last_p, std::uint64_t repeats) {
  Tallies tallies;
  for_schedules(first_p, last_p, repeats, [&](const Schedule& intact, Random& random) {
    for (const Damage& damage : damages()) {
      Draft spoilt = draft(intact);
      if (!damage.apply(spoilt, random)) continue;
      judge(schedule(spoilt), std::string(damage.name), random.bits(), tallies[damage.name]);
    }
  });
  Tally total;
  for (const auto& [name, tally] : tallies) {
    total += tally;
    record(name, tally);
    EXPECT_GT(tally.applied, 0) << name;
  }
  print(tallies, total);
  EXPECT_EQ(total.caught, total.changed_meaning);
  EXPECT_GE(total.applied, 20000);
}

TEST(Mutation, EveryDamageThatChangesTheResultIsCaught) { damage_once(3, 9, 4); }

TEST(SlowMutation, EveryDamageThatChangesTheResultIsCaught) { damage_once(2, 13, 6); }

void damage_often(std::uint32_t last_p, std::uint64_t repeats) {
  const std::vector<Damage> ways(damages().begin(), damages().end());
  Tally tally;
  for_schedules(2, last_p, repeats, [&](const Schedule& intact, Random& random) {
    Draft spoilt = draft(intact);
    std::string how;
    for (std::uint64_t i = random.below(3U) + 2; i > 0; --i) {
      const Damage& damage = random.pick(ways);
      if (damage.apply(spoilt, random)) how += (how.empty() ? "" : ", ") + std::string(damage.name);
    }
    if (!how.empty()) judge(schedule(spoilt), how, random.bits(), tally);
  });
  record("several", tally);
}

void damage_variants(std::uint32_t last_p, std::uint64_t repeats) {
  Tallies tallies;
  for_variant_schedules(last_p, repeats, [&](const Schedule& intact, Random& random) {
    for (const Damage& damage : damages()) {
      Draft spoilt = draft(intact);
      if (!damage.apply(spoilt, random)) continue;
      judge(schedule(spoilt), std::string(damage.name), random.bits(), tallies[damage.name]);
    }
  });
  Tally total;
  for (const auto& [name, tally] : tallies) {
    total += tally;
    EXPECT_GT(tally.applied, 0) << name;
  }
  print(tallies, total);
  EXPECT_EQ(total.caught, total.changed_meaning);
  EXPECT_GT(total.changed_meaning, total.applied / 2);
}

TEST(Mutation, EveryDamageToVariantsIsCaught) { damage_variants(6, 8); }

TEST(SlowMutation, EveryDamageToVariantsIsCaught) { damage_variants(9, 40); }

TEST(Mutation, MultipleDamagesAreCaught) { damage_often(7, 20); }

TEST(SlowMutation, MultipleDamagesAreCaught) { damage_often(10, 120); }

/// Unnecessary messages are harmless if they deliver nothing new, so verify() passes many of these
/// schedules. Their chunks have more versions than those of any schedule in the table.
TEST(Mutation, UnnecessaryMessagesAreJudgedCorrectly) {
  const auto insert = std::find_if(damages().begin(), damages().end(), [](const Damage& each) {
    return each.name == "message: insert";
  });
  ASSERT_NE(insert, damages().end());
  std::uint64_t passed = 0;
  for_schedules(2, 4, 60, [&](const Schedule& intact, Random& random) {
    Draft more = draft(intact);
    for (std::uint64_t i = random.below(4U) + 1; i > 0; --i) insert->apply(more, random);
    Tally tally;
    judge(schedule(more), "messages that are not needed", random.bits(), tally);
    passed += tally.applied - tally.changed_meaning - tally.stricter;
  });
  EXPECT_GE(passed, 500);
  RecordProperty("passed", std::to_string(passed));
}

}  // namespace
}  // namespace tutti::test
