#include <algorithm>
#include <utility>

#include <tutti/error.hpp>
#include <tutti/schedule/proved_schedule.hpp>
#include <tutti/schedule/schedule_hash.hpp>
#include <tutti/schedule/verify.hpp>

#include "core/quantity.hpp"

namespace tutti {
namespace {

/// Names are user input: they may have any length and hold any bytes.
std::string shown(const std::string& name) {
  constexpr std::size_t most = 60;
  std::string text = name.substr(0, most);
  // Do not split a UTF-8 character.
  while (text.size() < name.size() && !text.empty() &&
         (static_cast<unsigned char>(name[text.size()]) & 0xC0) == 0x80) {
    text.pop_back();
  }
  if (text.size() < name.size()) text += "…";
  const auto is_control = [](char each) {
    return static_cast<unsigned char>(each) < ' ' || each == '\x7F';
  };
  std::replace_if(text.begin(), text.end(), is_control, '?');
  return text;
}

Verification proof_of(const Schedule& schedule) {
  const Verification verdict = verify(schedule);
  if (verdict.ok()) return verdict;
  constexpr std::size_t most_quoted = 3;
  std::string message = "'" + shown(schedule.name) + "' cannot be run: it has " +
                        in_plural(verdict.violation_count, "violation");
  for (std::size_t i = 0; i < std::min(most_quoted, verdict.violations.size()); ++i) {
    message += (i == 0 ? ": " : "; ") + verdict.violations[i].message;
  }
  if (verdict.violation_count > most_quoted) message += "; …";
  throw Error(ErrorCode::invalid_argument, message);
}

std::string of_ranks(std::uint32_t ranks) { return "among " + in_plural(ranks, "rank"); }

}  // namespace

std::string ProvedSchedule::misfit(Collective collective, std::uint32_t ranks, Rank root) const {
  const Contract& own = contract();
  const bool rooted = has_root(own.collective);
  if (own.collective == collective && own.ranks == ranks && (!rooted || own.root == root)) {
    return "";
  }
  const auto words = [](Collective what, std::uint32_t count, Rank from) {
    return std::string(tutti::name(what)) + " " + of_ranks(count) +
           (has_root(what) ? " with root " + std::to_string(from) : "");
  };
  return label() + " is for " + words(own.collective, own.ranks, own.root) + ", not for " +
         words(collective, ranks, root);
}

ProvedSchedule prove(Schedule schedule) {
  const Verification proof = proof_of(schedule);
  const std::uint64_t hash = content_hash(schedule);
  ScheduleTraits traits = traits_of(schedule);
  traits.folds_in_rank_order = proof.folds_in_rank_order;
  std::string label = "schedule '" + shown(schedule.name) + "' " + hash_text(hash);
  return ProvedSchedule(std::make_shared<const ProvedSchedule::Content>(ProvedSchedule::Content{
      .schedule = std::move(schedule), .hash = hash, .traits = traits, .label = std::move(label)}));
}

}  // namespace tutti
