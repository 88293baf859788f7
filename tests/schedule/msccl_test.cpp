#include <functional>
#include <set>

#include <gtest/gtest.h>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/msccl.hpp>
#include <tutti/schedule/schedule_file.hpp>
#include <tutti/schedule/verify.hpp>

#include "schedule/msccl_examples.hpp"
#include "schedule/msccl_interpreter.hpp"
#include "support/errors.hpp"
#include "support/golden.hpp"
#include "support/problems.hpp"
#include "support/variant_schedules.hpp"

namespace tutti::test {
namespace {

std::vector<AlgorithmFile> examples() {
  return {ring_in_place(4), all_pairs(4), reduce_chain(4), allgather_ring(4)};
}

std::string refusal(const Schedule& schedule) {
  const Verification verdict = verify(schedule);
  return verdict.ok() ? "" : verdict.violations.front().message;
}

TEST(Msccl, ExamplesCoverEveryTypeOfStep) {
  std::set<StepType> seen;
  for (const AlgorithmFile& file : examples()) {
    for (const Gpu& gpu : file.gpus) {
      for (const ThreadBlock& block : gpu.blocks) {
        for (const FileStep& step : block.steps) seen.insert(step.type);
      }
    }
  }
  EXPECT_EQ(seen.size(), step_types.size());
}

TEST(Msccl, ExamplesAreImportedAndProved) {
  for (const AlgorithmFile& file : examples()) {
    const std::string text = write_file(file);
    std::string name = file.name;
    for (char& c : name) c = c == ' ' ? '_' : c;
    expect_golden("msccl/" + name + ".xml", text);
    EXPECT_EQ(refusal(schedule_from_text(text)), "") << file.name;
  }
}

TEST(Msccl, ARingInPlaceNeedsNoVariants) {
  const Schedule schedule = schedule_from_msccl(write_file(ring_in_place(4)));
  EXPECT_EQ(schedule.rounds(), 6U);
  for (const Program& each : schedule.programs) EXPECT_EQ(each.size(), 12U);
}

class MscclTable : public testing::TestWithParam<const Algorithm*> {};

TEST_P(MscclTable, WhatIsExportedIsImportedAndProved) {
  const Algorithm& algorithm = *GetParam();
  if (algorithm.collective == Collective::barrier) GTEST_SKIP() << "MSCCL has no barrier";
  for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 6U, 8U}) {
    for (const Problem& problem : problems(algorithm, ranks)) {
      const Schedule schedule = algorithm.schedule(problem);
      const Schedule back = schedule_from_msccl(to_msccl(schedule));
      EXPECT_EQ(back.contract, schedule.contract) << words(problem);
      EXPECT_EQ(refusal(back), "") << words(problem);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MscclTable, testing::ValuesIn(every_algorithm()),
                         [](const auto& param) { return test_name(*param.param); });

TEST(Msccl, LocalStepsAndVariantsAreExported) {
  for (const Schedule& each : variant_schedules(4)) {
    const Schedule back = schedule_from_msccl(to_msccl(each));
    EXPECT_EQ(back.contract, each.contract) << each.name;
    EXPECT_EQ(refusal(back), "") << each.name;
  }
}

TEST(Msccl, ExportOfAnExampleRunsInAnyOrder) {
  Random random(1);
  for (const AlgorithmFile& file : examples()) {
    const Schedule schedule = schedule_from_msccl(write_file(file));
    const AlgorithmFile again = read_file(to_msccl(schedule));
    for (int turn = 0; turn < 10; ++turn) {
      EXPECT_EQ(MscclInterpreter(again, schedule.contract).run(random), "") << file.name;
    }
  }
}

TEST(Msccl, DamagedFilesAreRefusedOrHarmless) {
  using Damage = std::function<void(AlgorithmFile&, ThreadBlock&, std::size_t)>;
  const std::vector<Damage> damages{
      [](auto&, ThreadBlock& b, std::size_t s) {
        b.steps.erase(b.steps.begin() + static_cast<std::ptrdiff_t>(s));
      },
      [](auto&, ThreadBlock& b, std::size_t s) {
        b.steps.insert(b.steps.begin() + static_cast<std::ptrdiff_t>(s), b.steps[s]);
      },
      [](auto&, ThreadBlock& b, std::size_t s) { ++b.steps[s].source.offset; },
      [](auto&, ThreadBlock& b, std::size_t s) { ++b.steps[s].target.offset; },
      [](auto&, ThreadBlock& b, std::size_t s) { b.steps[s].source.buffer = 's'; },
      [](auto&, ThreadBlock& b, std::size_t s) { b.steps[s].target.buffer = 'o'; },
      [](auto&, ThreadBlock& b, std::size_t s) { ++b.steps[s].count; },
      [](auto&, ThreadBlock& b, std::size_t s) { b.steps[s].type = StepType::nothing; },
      [](auto&, ThreadBlock& b, std::size_t s) { b.steps[s].type = StepType::receive; },
      [](auto&, ThreadBlock& b, std::size_t s) { b.steps[s].type = StepType::copy; },
      [](auto&, ThreadBlock& b, std::size_t s) { b.steps[s].type = StepType::receive_reduce_copy; },
      [](auto&, ThreadBlock& b, std::size_t s) {
        b.steps[s].waits_for_block = -1;
        b.steps[s].waits_for_step = -1;
      },
      [](auto&, ThreadBlock& b, std::size_t s) {
        b.steps[s].waits_for_block = 0;
        b.steps[s].waits_for_step = 0;
      },
      [](auto&, ThreadBlock& b, std::size_t s) {
        b.steps[s].is_waited_for = !b.steps[s].is_waited_for;
      },
      [](auto&, ThreadBlock& b, std::size_t s) {
        if (s > 0) std::swap(b.steps[s], b.steps[s - 1]);
      },
      [](auto&, ThreadBlock& b, std::size_t) { b.to = b.to < 0 ? 0 : -1; },
      [](auto&, ThreadBlock& b, std::size_t) { b.from = (b.from + 1) % 4; },
      [](auto&, ThreadBlock& b, std::size_t) { b.channel ^= 1; },
      [](AlgorithmFile& f, ThreadBlock&, std::size_t s) {
        f.chunks += static_cast<std::uint32_t>(s) + 1;
      },
      [](AlgorithmFile& f, ThreadBlock&, std::size_t) {
        f.in_place = !f.in_place;
        f.out_of_place = !f.in_place;
      }};
  Random random(7);
  std::uint32_t tried = 0;
  std::uint32_t refused = 0;
  for (const AlgorithmFile& sound : examples()) {
    for (std::size_t b = 0; b < sound.gpus[1].blocks.size(); ++b) {
      for (std::size_t s = 0; s < sound.gpus[1].blocks[b].steps.size(); ++s) {
        for (std::size_t d = 0; d < damages.size(); ++d) {
          AlgorithmFile damaged = sound;
          damages[d](damaged, damaged.gpus[1].blocks[b], s);
          ++tried;
          try {
            const Schedule schedule = schedule_from_msccl(write_file(damaged));
            if (!refusal(schedule).empty()) {
              ++refused;
              continue;
            }
            for (int turn = 0; turn < 20; ++turn) {
              EXPECT_EQ(MscclInterpreter(damaged, schedule.contract).run(random), "")
                  << sound.name << ", damage " << d << " of block " << b << ", step " << s;
            }
          } catch (const Error&) {
            ++refused;
          }
        }
      }
    }
  }
  EXPECT_GE(tried, 150U);
  EXPECT_GE(refused, tried / 2);
}

TEST(Msccl, RefusalsNameTheLineAndTheReason) {
  const auto refused = [](const AlgorithmFile& file, const std::string& part) {
    expect_error([&] { (void)schedule_from_msccl(write_file(file)); }, ErrorCode::invalid_argument,
                 part);
  };
  AlgorithmFile race = all_pairs(3);
  race.gpus[0].blocks[2].steps[0].waits_for_block = -1;
  race.gpus[0].blocks[2].steps[0].waits_for_step = -1;
  refused(race, "line ");
  AlgorithmFile cycle = all_pairs(3);
  cycle.gpus[0].blocks[0].steps[0].waits_for_block = 2;
  cycle.gpus[0].blocks[0].steps[0].waits_for_step = 1;
  cycle.gpus[0].blocks[2].steps[1].is_waited_for = true;
  refused(cycle, "deadlock");
  AlgorithmFile unheard = all_pairs(3);
  unheard.gpus[0].blocks[0].steps[1].is_waited_for = false;
  refused(unheard, "hasdep is 0");
  AlgorithmFile outside = ring_in_place(3);
  outside.gpus[2].blocks[0].steps[0].source.offset = 3;
  refused(outside, "i_chunks=\"3\"");
  expect_error([] { (void)schedule_from_msccl("<algo"); }, ErrorCode::invalid_argument, "line 1");
  expect_error([] { (void)schedule_from_msccl("<x/>"); }, ErrorCode::invalid_argument, "<algo>");
  expect_error([] { (void)schedule_from_msccl("<algo coll=\"custom\"/>"); }, ErrorCode::unsupported,
               "custom");
}

}  // namespace
}  // namespace tutti::test
