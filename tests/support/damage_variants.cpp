#include <algorithm>
#include <array>
#include <utility>

#include "support/damage_steps.hpp"

namespace tutti::test {
namespace {

using Kind = Step::Kind;

/// One of the schedule's variants, or the next unused one.
Variant other_variant(const Draft& draft, Variant not_this, Random& random) {
  std::uint16_t last = 0;
  for (const At& at : places(draft)) {
    const DraftStep& each = draft.programs[at.rank][at.step];
    last = std::max({last, each.variant.index(), each.own_variant.index()});
  }
  return Variant{static_cast<std::uint16_t>(
      another(std::uint32_t{last} + 2, std::uint32_t{not_this.index()}, random))};
}

bool change_variant(Draft& draft, Random& random) {
  return change_one(draft, random, places(draft), [&](DraftStep& each) {
    each.variant = other_variant(draft, each.variant, random);
  });
}

bool change_own_variant(Draft& draft, Random& random) {
  const auto folds = places(draft, [](const DraftStep& each) { return each.own.has_value(); });
  return change_one(draft, random, folds, [&](DraftStep& each) {
    each.own_variant = other_variant(draft, each.own_variant, random);
  });
}

std::vector<At> local_steps(const Draft& draft) {
  return places(draft, [](const DraftStep& each) {
    return each.kind == Kind::local && !each.sources.empty();
  });
}

bool change_source(Draft& draft, Random& random) {
  return change_one(draft, random, local_steps(draft), [&](DraftStep& each) {
    Variant& source = random.pick(each.sources);
    source = other_variant(draft, source, random);
  });
}

bool drop_source(Draft& draft, Random& random) {
  return change_one(draft, random, local_steps(draft), [&](DraftStep& each) {
    const std::uint64_t k = random.below(std::uint64_t{each.sources.size()});
    each.sources.erase(each.sources.begin() + static_cast<std::ptrdiff_t>(k));
  });
}

bool swap_sources(Draft& draft, Random& random) {
  const auto folds = places(draft, [](const DraftStep& each) { return each.sources.size() > 1; });
  return change_one(draft, random, folds, [&](DraftStep& each) {
    const auto n = static_cast<std::uint32_t>(each.sources.size());
    const std::uint32_t i = random.below(n);
    std::swap(each.sources[i], each.sources[another(n, i, random)]);
  });
}

/// Adds a copy of one chunk on a random rank at the end of a random round.
bool insert_copy(Draft& draft, Random& random) {
  if (draft.rounds == 0) return false;
  const std::uint32_t rank = random.below(draft.contract.ranks);
  const std::uint32_t round = random.below(draft.rounds);
  const auto from = static_cast<std::uint16_t>(random.below(2U));
  const auto to = static_cast<std::uint16_t>(1 - from);
  std::vector<DraftStep>& steps = draft.programs[rank];
  const auto after = std::find_if(steps.begin(), steps.end(),
                                  [&](const DraftStep& each) { return each.round > round; });
  steps.insert(after, local(round, {from}, to, {random.below(draft.contract.chunks)}));
  return true;
}

constexpr std::array all_variant_damages{
    Damage{"change a variant", change_variant},
    Damage{"change the own variant", change_own_variant},
    Damage{"local: change a source", change_source},
    Damage{"local: drop a source", drop_source},
    Damage{"local: swap sources", swap_sources},
    Damage{"local: insert a copy", insert_copy},
};

}  // namespace

std::span<const Damage> variant_damages() { return all_variant_damages; }

}  // namespace tutti::test
