#include <gtest/gtest.h>

#include <tutti/error.hpp>
#include <tutti/schedule/schedule_json.hpp>
#include <tutti/schedule/verify.hpp>

#include "support/problems.hpp"
#include "support/spoil.hpp"
#include "support/variant_schedules.hpp"

namespace tutti::test {
namespace {

/// True if a schedule is small enough to run here.
bool is_small(const Schedule& schedule) {
  return schedule.contract.chunks < 100000 && schedule.rounds() < 100000;
}

/// The outcomes of reading damaged documents.
struct Tally {
  std::uint64_t refused = 0;
  std::uint64_t wrong = 0;
  std::uint64_t right = 0;
};

void read_and_judge(const std::string& text, Tally& tally) {
  try {
    const Schedule schedule = schedule_from_json(text);
    EXPECT_EQ(schedule_from_json(to_json(schedule)), schedule);
    if (!is_small(schedule)) return;
    ++(verify(schedule).ok() ? tally.right : tally.wrong);
  } catch (const Error& error) {
    EXPECT_EQ(name(error.code()), "invalid_argument") << error.what();
    EXPECT_EQ(std::string(error.what()).rfind("schedule JSON: ", 0), 0) << error.what();
    ++tally.refused;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not a tutti::Error: " << error.what() << "\n" << text;
  }
}

/// A schedule of the algorithm, or sometimes one with local steps and variants.
Schedule some_schedule(const Algorithm& algorithm, Random& random) {
  if (random.one_in(4)) return random.pick(variant_schedules(1 + random.below(4U)));
  return algorithm.schedule(random_problem(algorithm, 4, random));
}

/// Reads documents of every algorithm, damaged up to three times.
void read_damaged(std::uint64_t repeats) {
  Tally tally;
  std::uint64_t seed = 0;
  for (const Algorithm& algorithm : algorithms()) {
    for (std::uint64_t i = 0; i < repeats; ++i) {
      Random random(++seed);
      std::string text = to_json(some_schedule(algorithm, random));
      for (std::uint64_t n = 1 + random.below(3U); n > 0 && !text.empty(); --n) {
        spoil(text, random);
      }
      read_and_judge(text, tally);
      if (testing::Test::HasFailure()) {
        FAIL() << algorithm.name << " seed " << seed << ":\n" << text;
      }
    }
  }
  EXPECT_GT(tally.refused, repeats);
  EXPECT_GT(tally.wrong, repeats);
  EXPECT_GT(tally.right, 0);
}

TEST(ScheduleJsonFuzz, DamagedDocumentsAreRejectedOrVerified) { read_damaged(200); }

TEST(SlowScheduleJsonFuzz, DamagedDocumentsAreRejectedOrVerified) { read_damaged(3000); }

}  // namespace
}  // namespace tutti::test
