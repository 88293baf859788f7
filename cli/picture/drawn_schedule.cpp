#include "cli/picture/drawn_schedule.hpp"

#include <algorithm>
#include <cctype>

#include <tutti/error.hpp>
#include <tutti/schedule/closed_form.hpp>
#include <tutti/schedule/figures.hpp>
#include <tutti/schedule/schedule_file.hpp>

#include "cli/console/built_schedule.hpp"
#include "cli/console/text_file.hpp"
#include "core/quantity.hpp"
#include "render/volume.hpp"

namespace tutti::cli {
namespace {

std::string plural(std::uint64_t count, const std::string& noun) {
  return with_commas(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string sentence(std::string_view words) {
  std::string text(words);
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text + ".";
}

std::string title(const Schedule& schedule, const Shape& shape) {
  const Contract& contract = schedule.contract;
  std::string text = schedule.name + ", " + plural(contract.ranks, "rank");
  if (!shape.empty()) text += " (" + to_string(shape) + ")";
  if (has_root(contract.collective)) text += ", root " + std::to_string(contract.root);
  return text;
}

/// Rounds, messages, and the bytes compared with the least possible.
std::string counted(const Schedule& schedule) {
  const Contract& contract = schedule.contract;
  const Figures figures = count(schedule, Layout::equal(contract.chunks, 1));
  std::string text = plural(figures.rounds, "round") + ", " + plural(figures.messages, "message");
  const std::string volume = render::volume_text(schedule);
  return text + (volume.empty() ? "" : "; " + volume) + ".";
}

std::string formula_of(const Algorithm& algorithm) {
  const ClosedForm* const form = find_closed_form(algorithm.name);
  if (form == nullptr) return "It has no closed form.";
  return "By formula: rounds " + std::string(form->rounds) + ", time " +
         std::string(form->seconds) + ".";
}

}  // namespace

DrawnSchedule schedule_of(const Algorithm& algorithm, const Problem& problem) {
  DrawnSchedule drawn{.schedule = built_schedule(algorithm, problem), .caption = {}};
  drawn.caption = {
      .title = title(drawn.schedule, problem.shape),
      .lines = {sentence(algorithm.summary), counted(drawn.schedule), formula_of(algorithm)}};
  return drawn;
}

DrawnSchedule schedule_in_file(const std::string& path) {
  const std::string text = read_text(path);
  try {
    DrawnSchedule drawn{.schedule = schedule_from_text(text), .caption = {}};
    drawn.caption = {.title = title(drawn.schedule, {}), .lines = {counted(drawn.schedule)}};
    if (!std::ranges::all_of(drawn.schedule.programs, &Program::is_plain)) {
      drawn.caption.lines.emplace_back("Only the chunks are drawn, not their other variants.");
    }
    return drawn;
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what());
  }
}

}  // namespace tutti::cli
