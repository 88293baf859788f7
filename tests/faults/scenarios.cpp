#include <array>

#include "faults/scenario.hpp"
#include "faults/scenarios/call.hpp"
#include "faults/scenarios/churn.hpp"
#include "faults/scenarios/fork.hpp"
#include "faults/scenarios/freeze.hpp"
#include "faults/scenarios/messages.hpp"
#include "faults/scenarios/shard.hpp"

namespace tutti::test {
namespace {

constexpr std::array table{
    Scenario{"call", 5, draw_call, play_call, judge_call, call_words, call_label},
    Scenario{"exit", 2, draw_exit, play_call, judge_call, call_words, exit_label},
    Scenario{"shard", 2, draw_shard, play_shard, judge_shard, shard_words, shard_label},
    Scenario{"freeze", 1, draw_freeze, play_freeze, judge_freeze, freeze_words, freeze_label},
    Scenario{"churn", 1, draw_churn, play_churn, judge_churn, churn_words, churn_label},
    Scenario{"messages", 3, draw_messages, play_messages, judge_messages, messages_words,
             messages_label},
    Scenario{"fork", 2, draw_fork, play_fork, judge_fork, fork_words, fork_label},
};

}  // namespace

std::span<const Scenario> scenarios() { return table; }

const Scenario& scenario_of(const FaultCase& fault_case) { return table[fault_case.scenario]; }

}  // namespace tutti::test
