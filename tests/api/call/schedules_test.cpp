#include <chrono>
#include <fstream>
#include <functional>

#include <gtest/gtest.h>

#include <tutti/bucketer.hpp>
#include <tutti/schedule/proved_schedule.hpp>
#include <tutti/schedule/schedule_hash.hpp>
#include <tutti/schedule/schedule_json.hpp>

#include "api/settings.hpp"
#include "support/collective_check.hpp"
#include "support/draft.hpp"
#include "support/errors.hpp"
#include "support/problems.hpp"
#include "support/processes.hpp"
#include "support/sanitizer.hpp"
#include "support/temporary_directory.hpp"
#include "support/variable.hpp"
#include "support/variant_schedules.hpp"

/// Schedules that are passed with a call, in a variable or in a rules file.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;

ProvedSchedule proved(std::string_view name, std::uint32_t ranks, std::uint32_t root = 0) {
  Schedule schedule =
      algorithm(name).schedule({.ranks = ranks, .root = root, .shape = squarest(ranks)});
  schedule.name = "my " + schedule.name;
  return prove(schedule_from_json(to_json(schedule)));
}

/// Runs every algorithm of the table as a schedule that was read from JSON.
std::string try_table(Communicator& communicator) {
  const std::uint32_t ranks = communicator.size();
  for (const Algorithm* algorithm : every_algorithm()) {
    const std::uint32_t root = ranks / 2;
    const ProvedSchedule schedule = proved(algorithm->name, ranks, root);
    for (const std::uint64_t count : {0U, 1U, 13U, 20001U}) {
      Trial trial{.collective = algorithm->collective,
                  .schedule = &schedule,
                  .count = count,
                  .root = has_root(algorithm->collective) ? root : 0};
      for (const bool in_place : {false, true}) {
        trial.in_place = in_place;
        trial.asynchronous = count % 2 == 0;
        const std::string fault = try_call(communicator, trial);
        if (!fault.empty())
          return std::string(algorithm->name) + ", " + words(trial) + ": " + fault;
      }
    }
  }
  return "";
}

TEST(Schedules, BehaveLikeTheAlgorithmsOfTheTable) {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 6U}) {
    run_threads(ranks, [](Communicator& communicator) { EXPECT_EQ(try_table(communicator), ""); });
  }
}

/// Runs schedules with local steps and several variants of a chunk, which no algorithm has.
std::string try_variants(Communicator& communicator) {
  const std::uint32_t ranks = communicator.size();
  for (const Schedule& each : variant_schedules(ranks)) {
    const ProvedSchedule schedule = prove(schedule_from_json(to_json(each)));
    const Collective collective = each.contract.collective;
    for (const std::uint64_t count : {0U, 1U, 13U, 4001U, 20000U}) {
      for (const bool in_place : {false, true}) {
        const Trial trial{.collective = collective,
                          .schedule = &schedule,
                          .op = count == 13 && is_reduction(collective) ? Op::max : Op::sum,
                          .count = count,
                          .root = each.contract.root,
                          .in_place = in_place,
                          .shared = count % 2 == 0};
        const std::string fault = try_call(communicator, trial);
        if (!fault.empty()) return each.name + ", " + words(trial) + ": " + fault;
      }
    }
  }
  return "";
}

TEST(Schedules, MayHaveLocalStepsAndVariants) {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 6U}) {
    run_threads(ranks,
                [](Communicator& communicator) { EXPECT_EQ(try_variants(communicator), ""); });
  }
}

/// A user-defined function also works if source and destination differ.
TEST(Schedules, LocalStepsAllowUserDefinedFunctions) {
  const ProvedSchedule relay = prove(relay_allreduce(4));
  const ProvedSchedule mesh = prove(gathering_mesh(4));
  run_threads(4, [&](Communicator& communicator) {
    for (const ProvedSchedule* const each : {&relay, &mesh}) {
      std::vector<double> data(5000, communicator.rank() + 2);
      communicator.all_reduce(data, reduction<double>(std::multiplies<>()), {.schedule = each});
      EXPECT_EQ(data.front(), 2 * 3 * 4 * 5);
      EXPECT_EQ(data.back(), 2 * 3 * 4 * 5);
    }
  });
}

class ScheduledProcesses : public ::testing::TestWithParam<Way> {};

TEST_P(ScheduledProcesses, BehaveLikeTheAlgorithmsOfTheTable) {
  if (sanitizer == "thread") GTEST_SKIP() << "these ranks are processes";
  for (const std::uint32_t ranks : {2U, 4U}) {
    EXPECT_EQ(run_processes(ranks, GetParam(), try_table), "") << ranks << " ranks";
  }
}

TEST_P(ScheduledProcesses, MayHaveLocalStepsAndVariants) {
  if (sanitizer == "thread") GTEST_SKIP() << "these ranks are processes";
  for (const std::uint32_t ranks : {2U, 4U}) {
    EXPECT_EQ(run_processes(ranks, GetParam(), try_variants), "") << ranks << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(Api, ScheduledProcesses, ::testing::Values(Way::memory, Way::tcp),
                         [](const auto& each) {
                           return each.param == Way::memory ? "SharingMemory" : "OverTcp";
                         });

TEST(Schedules, AreNamedByTheCommunicator) {
  run_threads(2, [](Communicator& communicator) {
    const ProvedSchedule ring = proved("allreduce/ring", 2);
    const Call call{.collective = Collective::allreduce,
                    .count = 8,
                    .dtype = DType::f32,
                    .options = {.schedule = &ring}};
    EXPECT_EQ(communicator.algorithm_for(call), "my allreduce/ring");
  });
}

TEST(Schedules, WorkForCallsWithCounts) {
  run_threads(4, [](Communicator& communicator) {
    for (const char* const name :
         {"allgather/ring", "reduce_scatter/mesh", "scatter/binomial", "alltoall/pairwise"}) {
      const ProvedSchedule schedule = proved(name, 4);
      const Trial trial{.collective = schedule.contract().collective,
                        .schedule = &schedule,
                        .count = 1000,
                        .counted = true};
      EXPECT_EQ(try_call(communicator, trial), "") << name;
    }
    const ProvedSchedule bruck = proved("alltoall/bruck", 4);
    const Trial unknown{
        .collective = Collective::alltoall, .schedule = &bruck, .count = 1000, .counted = true};
    expect_error([&] { (void)try_call(communicator, unknown); }, ErrorCode::unsupported,
                 "passes on blocks of other ranks");
    EXPECT_EQ(try_call(communicator, {.count = 10}), "");
  });
}

TEST(Schedules, AreRunInPartsIfTheyKeepData) {
  constexpr std::uint64_t count = is_sanitized ? 1200003 : 3500003;
  run_threads(3, [](Communicator& communicator) {
    const ProvedSchedule chain = proved("reduce/chain", 3, 1);
    EXPECT_TRUE(chain.traits().keeps_data);
    const Trial trial{.collective = Collective::reduce,
                      .schedule = &chain,
                      .dtype = DType::i32,
                      .count = count,
                      .root = 1};
    EXPECT_EQ(try_call(communicator, trial), "");
    const ProvedSchedule relay = prove(relay_allreduce(3));
    EXPECT_EQ(try_call(communicator, {.schedule = &relay, .dtype = DType::i32, .count = count}),
              "");
  });
}

/// Every rank throws the same error before anything is sent, and the communicator stays usable.
TEST(Schedules, MustFitTheCall) {
  run_threads(3, [](Communicator& communicator) {
    const auto refuses = [&](const ProvedSchedule& schedule, Trial trial, const std::string& part) {
      trial.schedule = &schedule;
      expect_error([&] { (void)try_call(communicator, trial); }, ErrorCode::invalid_argument, part);
    };
    refuses(proved("allreduce/ring", 4), {}, "is for allreduce among 4 ranks, not for allreduce");
    refuses(proved("allgather/ring", 3), {}, "is for allgather among 3 ranks, not for allreduce");
    refuses(proved("broadcast/flat", 3, 1), {.collective = Collective::broadcast},
            "with root 1, not for broadcast among 3 ranks with root 0");
    refuses(proved("allreduce/ring", 3), {.algorithm = "allreduce/mesh"}, "name one of them");
    EXPECT_EQ(try_call(communicator, {.count = 10}), "");
  });
}

TEST(Schedules, MayBeDestroyedBeforeAStartedCallRuns) {
  run_threads(3, [](Communicator& communicator) {
    std::vector<float> data(50000, 1);
    Work work;
    {
      const ProvedSchedule ring = proved("allreduce/ring", 3);
      work = communicator.all_reduce_async(data, Op::sum, {.schedule = &ring});
    }
    work.wait();
    EXPECT_EQ(data.back(), 3);
  });
}

std::string mismatch_of(const std::function<void()>& f, const std::vector<std::string>& parts) {
  try {
    f();
    return "nothing was thrown";
  } catch (const Error& error) {
    const std::string text = error.what();
    if (error.code() != ErrorCode::mismatch) return text;
    for (const std::string& part : parts) {
      if (text.find(part) == std::string::npos) return "no '" + part + "' in: " + text;
    }
    return "";
  }
}

class DifferentSchedules : public ::testing::TestWithParam<Way> {};

TEST_P(DifferentSchedules, AreQuotedWithTheirNamesAndHashes) {
  if (sanitizer == "thread") GTEST_SKIP() << "these ranks are processes";
  const ProvedSchedule ring = proved("allreduce/ring", 2);
  const ProvedSchedule mesh = proved("allreduce/mesh_two_shot", 2);
  ASSERT_FALSE(ring == mesh);
  const auto work = [&](Communicator& communicator) {
    std::vector<float> data(1000);
    const ProvedSchedule& own = communicator.rank() == 0 ? ring : mesh;
    return mismatch_of(
        [&] { communicator.all_reduce(data, Op::sum, {.schedule = &own, .timeout = 5s}); },
        {ring.label(), mesh.label()});
  };
  EXPECT_EQ(run_processes(2, GetParam(), work), "");
}

TEST_P(DifferentSchedules, WithTheSameContentAreEqual) {
  if (sanitizer == "thread") GTEST_SKIP() << "these ranks are processes";
  const auto work = [](Communicator& communicator) -> std::string {
    Schedule ring = algorithm("allreduce/ring").schedule({.ranks = 2});
    ring.name = "of rank " + std::to_string(communicator.rank());
    const ProvedSchedule own = prove(ring);
    return try_call(communicator, {.schedule = &own, .count = 1000});
  };
  EXPECT_EQ(run_processes(2, GetParam(), work), "");
}

INSTANTIATE_TEST_SUITE_P(Api, DifferentSchedules, ::testing::Values(Way::memory, Way::tcp),
                         [](const auto& each) {
                           return each.param == Way::memory ? "SharingMemory" : "OverTcp";
                         });

/// One step per chunk, and all sends before all receives: more steps in a round than the executor
/// looks at in one pass.
TEST(Schedules, MayHaveManyStepsInARound) {
  constexpr std::uint64_t chunks = 300;
  Schedule schedule{
      .name = "many steps",
      .contract = {.collective = Collective::allgather, .ranks = 2, .chunks = 2 * chunks},
      .programs = {Program(1), Program(1)}};
  for (std::uint32_t r = 0; r < 2; ++r) {
    const std::uint64_t other = 1 - r;
    for (std::uint64_t i = 0; i < chunks; ++i) {
      schedule.programs[r].send(0, 1 - r, Chunk{r * chunks + i});
    }
    for (std::uint64_t i = 0; i < chunks; ++i) {
      schedule.programs[r].receive(0, 1 - r, Chunk{other * chunks + i});
    }
  }
  const ProvedSchedule many = prove(schedule);
  run_threads(2, [&](Communicator& communicator) {
    for (const std::uint64_t count : {1000U, 1000000U}) {
      const Trial trial{.collective = Collective::allgather,
                        .schedule = &many,
                        .count = count,
                        .shared = true,
                        .timeout = 10s};
      EXPECT_EQ(try_call(communicator, trial), "") << count;
    }
  });
}

/// The chunks of a barrier hold no data.
TEST(Schedules, BarriersMayHaveManyChunks) {
  constexpr std::uint64_t chunks = 1000;
  Schedule schedule{.name = "wide barrier",
                    .contract = {.collective = Collective::barrier, .ranks = 2, .chunks = chunks},
                    .programs = {Program(1), Program(1)}};
  const ChunkRange all(Chunk{0}, chunks);
  for (std::uint32_t r = 0; r < 2; ++r) {
    const Rank peer{1 - r};
    schedule.programs[r].send(0, peer, all);
    schedule.programs[r].receive_reduce(0, {&peer, 1}, 0, {&all, 1});
  }
  const ProvedSchedule wide = prove(schedule);
  run_threads(2, [&](Communicator& communicator) {
    for (int i = 0; i < 3; ++i) communicator.barrier({.schedule = &wide});
    communicator.barrier();
  });
}

TEST(Schedules, WorkForBuckets) {
  run_threads(3, [](Communicator& communicator) {
    std::vector<float> one(1000, 1);
    std::vector<float> two(3000, 2);
    std::vector<Tensor> tensors{tensor(one), tensor(two)};
    BucketOptions options{.reduction = Op::sum};
    std::optional<ProvedSchedule> ring = proved("allreduce/ring", 3);
    options.call.schedule = &*ring;
    Bucketer bucketer(communicator, tensors, options);
    ring.reset();
    for (std::size_t i = 0; i < tensors.size(); ++i) bucketer.ready(i);
    bucketer.finish();
    EXPECT_EQ(one.back(), 3);
    EXPECT_EQ(two.back(), 6);
  });
}

// In a variable or in a file ------------------------------------------------------------------

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string chosen(const Communicator& communicator, const Call& call) {
  return communicator.algorithm_for(call);
}

TEST(ScheduleRules, ApplyToCallsThatTheScheduleFits) {
  const TemporaryDirectory folder;
  write(folder.path("ring.json"), to_json(proved("allreduce/ring", 3).schedule()));
  const Variable variable("TUTTI_ALGO", "file:" + folder.path("ring.json"));
  const Call call{.collective = Collective::allreduce, .count = 100, .dtype = DType::f32};
  run_threads(3, [&](Communicator& communicator) {
    EXPECT_EQ(chosen(communicator, call), "my allreduce/ring");
    std::vector<float> data(1000, 1);
    communicator.all_reduce(data);
    EXPECT_EQ(data.back(), 3);
    // A call that the schedule does not fit may use any algorithm.
    auto part = communicator.split(communicator.rank() == 0 ? 0 : 1);
    EXPECT_TRUE(chosen(*part, call).starts_with("allreduce/"));
    part->all_reduce(data);
  });
  run_threads(4, [&](Communicator& communicator) {
    EXPECT_TRUE(chosen(communicator, call).starts_with("allreduce/"));
  });
}

TEST(ScheduleRules, ApplyToOneRoot) {
  const TemporaryDirectory folder;
  write(folder.path("tree.json"), to_json(proved("broadcast/binomial", 3, 1).schedule()));
  write(folder.path("rules.txt"),
        "broadcast bytes=0- use file:tree.json\n"
        "broadcast use chain\n");
  const Variable variable("TUTTI_RULES", folder.path("rules.txt"));
  run_threads(3, [&](Communicator& communicator) {
    for (const std::uint32_t root : {0U, 1U, 2U, 1U}) {
      const Call call{
          .collective = Collective::broadcast, .count = 100, .dtype = DType::f32, .root = root};
      EXPECT_EQ(chosen(communicator, call),
                root == 1 ? "my broadcast/binomial" : "broadcast/chain");
      EXPECT_EQ(
          try_call(communicator, {.collective = Collective::broadcast, .count = 100, .root = root}),
          "");
    }
  });
}

TEST(ScheduleRules, ErrorsNameTheFile) {
  const TemporaryDirectory folder;
  const auto refused = [&](const std::string& value, const std::string& part) {
    const Variable variable("TUTTI_ALGO", value);
    expect_error([] { (void)settings_from_environment(); }, ErrorCode::invalid_argument, part);
  };
  const std::string path = folder.path("s.json");
  refused("file:" + path, "TUTTI_ALGO: cannot read the schedule '" + path);
  write(path, "[]");
  refused("file:" + path, path + ": schedule JSON: ");
  Draft spoilt = draft(proved("allreduce/ring", 3).schedule());
  spoilt.programs[1].pop_back();
  write(path, to_json(schedule(spoilt)));
  refused("allreduce:file:" + path, "cannot be run: it has 1 violation: unmatched");
  write(path, to_json(proved("allgather/ring", 3).schedule()));
  refused("allreduce:file:" + path, "is for allgather, not for allreduce");
  refused("^file:" + path, "schedules are used only if they are named");
  refused("allreduce:^file:" + path, "schedules are used only if they are named");
  refused("allreduce:file:", "there is no path after 'file:'");
}

/// Ranks compare the digests of their rules when they form a group.
TEST(ScheduleRules, AreComparedByContent) {
  const TemporaryDirectory folder;
  const std::string path = folder.path("s.json");
  const auto digest = [&](const Schedule& schedule) {
    write(path, to_json(schedule));
    const Variable variable("TUTTI_ALGO", "file:" + path);
    return settings_from_environment().choice_digest;
  };
  const std::uint64_t ring = digest(proved("allreduce/ring", 3).schedule());
  EXPECT_NE(ring, digest(proved("allreduce/mesh", 3).schedule()));
  Schedule renamed = proved("allreduce/ring", 3).schedule();
  renamed.name = "another name";
  EXPECT_EQ(ring, digest(renamed));
}

}  // namespace
}  // namespace tutti::test
