#include "cli/choice/crossover_command.hpp"

#include <array>
#include <cstdio>
#include <optional>

#include <tutti/error.hpp>

#include "cli/console/exit_code.hpp"
#include "cli/console/own_program.hpp"
#include "cli/console/progress.hpp"
#include "cli/console/text.hpp"
#include "cli/launch/launcher.hpp"
#include "core/quantity.hpp"
#include "rendezvous/environment.hpp"
#include "select/profile.hpp"

namespace tutti::cli {
namespace {

using measure::Duel;
using measure::MeasuredCrossover;

std::string size_text(const std::optional<double>& size) {
  if (!size) return "none";
  std::array<char, 32> text{};
  if (*size < 10240) {
    std::snprintf(text.data(), text.size(), "%.0f B", *size);
  } else {
    std::snprintf(text.data(), text.size(), *size < (10 << 20) ? "%.0f KiB" : "%.1f MiB",
                  *size < (10 << 20) ? *size / 1024 : *size / (1 << 20));
  }
  return text.data();
}

void print(const Communicator& communicator, const MeasuredCrossover& found) {
  using Align = TextTable::Align;
  TextTable table({{"size", Align::right},
                   {found.first, Align::right},
                   {"predicted", Align::right},
                   {found.second, Align::right},
                   {"predicted", Align::right}});
  for (std::size_t i = 0; i < found.measured.size(); ++i) {
    const Duel& measured = found.measured[i];
    const Duel& predicted = found.predicted[i];
    table.add({format_bytes(measured.bytes), format_seconds(measured.first),
               format_seconds(predicted.first), format_seconds(measured.second),
               format_seconds(predicted.second)});
  }
  std::printf("%s\nby %s\n\n%s\n", communicator.description().c_str(),
              find_profile().origin.c_str(), table.text().c_str());
  std::printf("crossover: measured %s, predicted %s, by the model alone %s\n",
              size_text(crossing(found.measured)).c_str(),
              size_text(crossing(found.predicted)).c_str(),
              size_text(crossing(found.modelled)).c_str());
}

int take_part(const CrossoverRequest& request) {
  Communicator communicator = Communicator::from_environment();
  Progress bar("measuring");
  const MeasuredCrossover found =
      measure::measure_crossover(communicator, request.task, [&](double share) { bar.set(share); });
  bar.hide();
  if (communicator.rank() != 0) return success;
  if (request.json) {
    std::fputs(found.json().c_str(), stdout);
  } else {
    print(communicator, found);
  }
  return success;
}

}  // namespace

int run_crossover(const CrossoverRequest& request, std::vector<std::string> words) {
  const Launch launched = read_environment(environment_variable);
  if (launched.how != Launch::How::alone && launched.size > 1) return take_part(request);
  if (request.pairs != Pairs::host && request.pairs != Pairs::loopback) {
    throw Error(ErrorCode::invalid_argument,
                "--measure starts processes on this host; use --transport shm or tcp");
  }
  words.insert(words.begin(), own_program());
  const Job job{
      .ranks = request.ranks,
      .command = std::move(words),
      .variables = {{"TUTTI_TRANSPORT", request.pairs == Pairs::loopback ? "tcp" : "shm"}},
      .binding = Binding::core,
      .speaker = "tutti crossover",
      .direct = true};
  return Launcher(job).run();
}

}  // namespace tutti::cli
