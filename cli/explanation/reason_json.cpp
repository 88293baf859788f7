#include "cli/explanation/reason_json.hpp"

#include <tutti/error.hpp>
#include <tutti/schedule/closed_form.hpp>

#include "core/json_value.hpp"
#include "render/reason.hpp"

namespace tutti::cli {

std::string reason_json(const Algorithm& algorithm) {
  const render::Reason* const reason = render::find_reason(algorithm.name);
  if (reason == nullptr) {
    throw Error(ErrorCode::internal, "no reason is written for " + std::string(algorithm.name));
  }
  Json whole{{"algorithm", std::string(algorithm.name)},
             {"summary", std::string(algorithm.summary)},
             {"idea", std::string(reason->idea)},
             {"why", std::string(reason->why)},
             {"bound", std::string(reason->bound)},
             {"order", std::string(algorithm.order)},
             {"formula", nullptr}};
  if (const ClosedForm* const form = find_closed_form(algorithm.name)) {
    whole["formula"] = Json{{"rounds", std::string(form->rounds)},
                            {"bytes", std::string(form->bytes)},
                            {"most_in_a_round", std::string(form->most_in_a_round)},
                            {"seconds", std::string(form->seconds)}};
  }
  return json_text(whole, 1) + "\n";
}

}  // namespace tutti::cli
