#include <algorithm>
#include <string>
#include <vector>

#include <tutti/error.hpp>
#include <tutti/schedule/closed_form.hpp>

#include "core/nearest.hpp"
#include "cost/closed_form/formulas.hpp"

namespace tutti {
namespace {

/// In the order of the table of algorithms.
std::vector<ClosedForm> join() {
  std::vector<ClosedForm> all;
  for (const auto forms : {formula::broadcast::closed_forms(), formula::scatter::closed_forms(),
                           formula::gather::closed_forms(), formula::allgather::closed_forms(),
                           formula::reduce::closed_forms(), formula::allreduce::closed_forms(),
                           formula::reduce_scatter::closed_forms(),
                           formula::alltoall::closed_forms(), formula::barrier::closed_forms()}) {
    all.insert(all.end(), forms.begin(), forms.end());
  }
  return all;
}

}  // namespace

std::span<const ClosedForm> closed_forms() {
  static const std::vector<ClosedForm> all = join();
  return all;
}

const ClosedForm* find_closed_form(std::string_view algorithm) {
  const auto all = closed_forms();
  const std::string_view row = algorithm.substr(0, algorithm.find(':'));
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ClosedForm& each) { return each.algorithm == row; });
  return found == all.end() ? nullptr : &*found;
}

const ClosedForm& closed_form(std::string_view algorithm) {
  if (const ClosedForm* const found = find_closed_form(algorithm)) return *found;
  std::vector<std::string_view> names;
  for (const ClosedForm& each : closed_forms()) names.push_back(each.algorithm);
  throw Error(ErrorCode::invalid_argument, "no algorithm with a closed form is called '" +
                                               std::string(algorithm) + "'." +
                                               did_you_mean(algorithm, names));
}

}  // namespace tutti
