#include "select/method.hpp"

#include <filesystem>

#include <tutti/error.hpp>
#include <tutti/schedule/schedule_file.hpp>

#include "core/hash.hpp"

namespace tutti {
namespace {

void require_fit(const ProvedSchedule& schedule, const Problem& problem) {
  const std::string reason =
      schedule.misfit(schedule.contract().collective, problem.ranks, problem.root);
  if (!reason.empty()) throw Error(ErrorCode::invalid_argument, reason);
}

}  // namespace

std::string_view Method::name() const {
  return algorithm() != nullptr ? algorithm()->name : std::string_view(schedule()->name());
}

std::string_view Method::label() const {
  return algorithm() != nullptr ? algorithm()->name : std::string_view(schedule()->label());
}

std::uint64_t Method::identity() const {
  return algorithm() != nullptr ? hash_of(algorithm()->name) : schedule()->hash();
}

Collective Method::collective() const {
  return algorithm() != nullptr ? algorithm()->collective : schedule()->contract().collective;
}

const ScheduleTraits& Method::traits() const {
  return algorithm() != nullptr ? algorithm()->traits() : schedule()->traits();
}

bool Method::needs_counts() const {
  return collective() == Collective::alltoall && traits().needs_counts;
}

bool Method::folds_in_rank_order() const {
  return algorithm() != nullptr ? algorithm()->folds_in_rank_order
                                : schedule()->traits().folds_in_rank_order;
}

bool Method::needs_shape() const { return algorithm() != nullptr && algorithm()->needs_shape(); }

std::string Method::refusal(const Problem& problem) const {
  if (algorithm() != nullptr) return algorithm()->refusal(problem);
  return schedule()->misfit(collective(), problem.ranks, problem.root);
}

Contract Method::contract(const Problem& problem) const {
  if (algorithm() != nullptr) return algorithm()->contract(problem);
  require_fit(*schedule(), problem);
  return schedule()->contract();
}

Program Method::program(const Problem& problem, Rank self) const {
  if (algorithm() != nullptr) return algorithm()->program(problem, self);
  require_fit(*schedule(), problem);
  return schedule()->schedule().program(self);
}

Schedule Method::build(const Problem& problem) const {
  if (algorithm() != nullptr) return algorithm()->schedule(problem);
  require_fit(*schedule(), problem);
  return schedule()->schedule();
}

ScheduleSource Method::source(const Problem& problem) const {
  return {.name = std::string(name()),
          .contract = contract(problem),
          .program = [this, &problem](Rank rank) { return program(problem, rank); },
          .one_rule = algorithm() != nullptr};
}

ProvedSchedule schedule_named(std::string_view text, const std::string& folder) {
  const std::filesystem::path path(text.substr(file_prefix.size()));
  if (path.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "there is no path after 'file:'; write, for example, file:ring4.json");
  }
  const std::string where = folder.empty() ? path.string() : (folder / path).string();
  Schedule schedule = load_schedule(where);
  try {
    return prove(std::move(schedule));
  } catch (const Error& error) {
    throw Error(error.code(), where + ": " + error.what());
  }
}

}  // namespace tutti
