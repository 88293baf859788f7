#include "cli/simulation/rules.hpp"

#include "core/json_value.hpp"
#include "core/quantity.hpp"

namespace tutti::cli {

std::string ports_in_words(std::uint32_t ports) {
  if (ports == 0) return "any number of messages in and out of a rank at once";
  if (ports == 1) return "one message in and out of a rank at once";
  return std::to_string(ports) + " messages in and out of a rank at once";
}

std::string ports_in_words(Ports ports) {
  return ports == Ports::one ? ports_in_words(1U) : "a link for every message";
}

std::string gamma_in_words(double gamma) {
  return gamma == 0 ? "sums take no time" : "sums at " + format_rate(1 / gamma);
}

std::string rules_text(const SimulationSettings& settings, RoutePolicy routes) {
  std::string text = ports_in_words(settings.ports);
  if (settings.ports != 1) {
    text += settings.in_order ? ", those from one rank to another in order"
                              : ", also several from one rank to another";
  }
  text += "; " + std::string(name(routes)) + " routes; " + gamma_in_words(settings.gamma);
  if (settings.alpha > 0) text += "; " + format_seconds(settings.alpha) + " more per message";
  return text;
}

Json rules_json(const SimulationSettings& settings, RoutePolicy routes) {
  const bool ordered = settings.in_order || settings.ports == 1;
  return {{"ports", settings.ports},
          {"order", ordered ? "in_order" : "any_order"},
          {"routes", name(routes)},
          {"gamma", settings.gamma},
          {"alpha", settings.alpha}};
}

}  // namespace tutti::cli
