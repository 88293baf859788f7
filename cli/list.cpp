#include <cctype>
#include <cstdio>
#include <memory>
#include <string_view>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/closed_form.hpp>

#include "cli/commands.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/text.hpp"
#include "core/json_value.hpp"

namespace tutti::cli {
namespace {

struct Format {
  bool json = false;
  bool markdown = false;
};

std::string sentence(std::string_view summary) {
  std::string text(summary);
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// "k = 4" for people; more is in the documentation.
std::string usual_values(const Algorithm& algorithm) {
  std::string text;
  for (const AlgorithmParameter& each : algorithm.parameters) {
    text +=
        (text.empty() ? " (" : ", ") + std::string(each.name) + "=" + std::to_string(each.usual);
  }
  return text.empty() ? text : text + ")";
}

Json parameters_json(const Algorithm& algorithm) {
  Json list = Json::array();
  for (const AlgorithmParameter& each : algorithm.parameters) {
    list.push_back({{"name", each.name},
                    {"summary", each.summary},
                    {"least", each.least},
                    {"most", each.most},
                    {"usual", each.usual},
                    {"tried", std::vector<std::uint32_t>(each.tried.begin(), each.tried.end())}});
  }
  return list;
}

void print_json() {
  Json list = Json::array();
  for (const Algorithm& each : algorithms()) {
    list.push_back({{"name", each.name},
                    {"collective", name(each.collective)},
                    {"summary", each.summary},
                    {"order", each.order},
                    {"folds_in_rank_order", each.folds_in_rank_order},
                    {"needs_shape", each.needs_shape()},
                    {"keeps_data", each.traits().keeps_data},
                    {"needs_counts", each.traits().needs_counts},
                    {"parameters", parameters_json(each)},
                    {"closed_form", find_closed_form(each.name) != nullptr}});
  }
  std::puts(json_text(list, 2).c_str());
}

void print_table() {
  using Align = TextTable::Align;
  TextTable table({{"algorithm", Align::left}, {"how", Align::left}, {"adds", Align::left}});
  for (const Algorithm& each : algorithms()) {
    table.add({std::string(each.name),
               std::string(each.summary) + usual_values(each) +
                   (each.needs_shape() ? " (needs a shape)" : ""),
               std::string(each.order)});
  }
  std::fputs(table.text().c_str(), stdout);
}

void print_costs(const Algorithm& algorithm) {
  const ClosedForm* const form = find_closed_form(algorithm.name);
  if (form == nullptr) {
    std::printf("- no closed form: `tutti cost %s` counts what it costs\n",
                std::string(algorithm.name).c_str());
    return;
  }
  std::printf("- rounds: %s\n- bytes sent in all: %s\n", std::string(form->rounds).c_str(),
              std::string(form->bytes).c_str());
  std::printf("- most bytes one rank sends in a round: %s\n",
              std::string(form->most_in_a_round).c_str());
  std::printf("- time with one port: %s\n", std::string(form->seconds).c_str());
}

void print_parameters(const Algorithm& algorithm) {
  for (const AlgorithmParameter& each : algorithm.parameters) {
    std::string tried;
    for (const std::uint32_t value : each.tried) {
      tried += (tried.empty() ? "" : ", ") + std::to_string(value);
    }
    std::printf("- parameter %s: %s, from %u to %u, usually %u; `tutti choose` also tries %s\n",
                std::string(each.name).c_str(), std::string(each.summary).c_str(), each.least,
                each.most, each.usual, tried.c_str());
  }
}

/// docs/algorithms.md
void print_markdown() {
  std::puts(
      "# Algorithms\n\n"
      "Written by `tutti list --markdown`. Costs are for p ranks and buffers of n bytes, as in "
      "[cost-model.md](cost-model.md), with L = ⌈log₂ p⌉ and h = ⌊log₂ p⌋. They are tested equal "
      "to "
      "what is counted from the schedules.");
  for (const Collective collective : collectives()) {
    std::printf("\n## %s\n", std::string(name(collective)).c_str());
    for (const Algorithm& each : algorithms(collective)) {
      const std::string anchor(each.name);
      std::printf("\n### %s\n\n%s.\n\n", anchor.c_str(), sentence(each.summary).c_str());
      if (!each.order.empty()) std::printf("- adds %s\n", std::string(each.order).c_str());
      if (each.needs_shape()) std::puts("- needs a shape that the ranks fill");
      print_parameters(each);
      print_costs(each);
      std::printf("- source: [%s.cpp](../src/algorithms/%s.cpp)\n", anchor.c_str(), anchor.c_str());
    }
  }
}

}  // namespace

void add_list(Command tutti) {
  const Command command = tutti.command("list", "all algorithms, with a summary of each");
  auto format = std::make_shared<Format>();
  const Option json = command.json(format->json, "as JSON");
  command.flag("--markdown", format->markdown, "as docs/algorithms.md, with costs by formula")
      .excludes(json);
  command.action([format] {
    if (format->json) {
      print_json();
    } else if (format->markdown) {
      print_markdown();
    } else {
      print_table();
    }
    return success;
  });
}

}  // namespace tutti::cli
