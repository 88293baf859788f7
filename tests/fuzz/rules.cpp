#include "select/rules.hpp"

#include "fuzz/finding.hpp"
#include "fuzz/target.hpp"

namespace tutti::test {
namespace {

constexpr Reach here{.pairs = Pairs::host};

void judge(const Rules& rules) {
  for (const Rule& rule : rules.all()) {
    require(!rule.methods.empty(), "a rule names no algorithm");
    require(rule.bytes.least <= rule.bytes.most && rule.ranks.least <= rule.ranks.most,
            "a rule has an empty range");
    for (const Method& each : rule.methods) {
      require(each.collective() == rule.collective,
              "a rule names an algorithm of another collective");
    }
  }
  for (const Collective collective : collectives()) {
    const Rule* const found = rules.find({.collective = collective, .bytes = 4096}, 4, here);
    if (found == nullptr) continue;
    require(found->collective == collective && found->bytes.contains(4096) &&
                found->ranks.contains(4) && found->pairs.value_or(here.pairs) == here.pairs,
            "a rule is found that does not fit");
  }
}

}  // namespace

void try_rules(std::string_view input) {
  if (const auto rules = attempt([&] { return parse_algorithm_rules(input, "TUTTI_ALGO"); })) {
    judge(*rules);
  }
  if (const auto rules = attempt([&] { return parse_rules_file(input, "rules"); })) judge(*rules);
}

}  // namespace tutti::test
