#include <algorithm>

#include <tutti/schedule/figures.hpp>

namespace tutti {
namespace {

void add(const Program& program, const Layout& layout, Figures& figures) {
  const RankFigures rank = count(program, layout);
  figures.rounds = std::max(figures.rounds, program.rounds());
  figures.messages += rank.messages;
  figures.bytes += rank.sent;
  figures.reduced += rank.reduced;
  figures.most_sent = std::max(figures.most_sent, rank.sent);
  figures.most_received = std::max(figures.most_received, rank.received);
  figures.most_reduced = std::max(figures.most_reduced, rank.reduced);
  figures.most_in_a_round = std::max(figures.most_in_a_round, rank.most_in_a_round);
}

}  // namespace

RankFigures count(const Program& program, const Layout& layout) {
  RankFigures figures;
  std::uint32_t round = 0;
  std::uint64_t in_round = 0;
  for (const Step step : program) {
    std::uint64_t bytes = 0;
    for (const ChunkRange& range : step.chunks) bytes += layout.size(range);
    if (step.makes()) {
      figures.received += bytes * step.peers.size();
      figures.reduced += bytes * (step.operands() - 1);
      continue;
    }
    if (step.round != round) in_round = 0;
    round = step.round;
    in_round += bytes * step.peers.size();
    figures.messages += step.peers.size();
    figures.sent += bytes * step.peers.size();
    figures.most_in_a_round = std::max(figures.most_in_a_round, in_round);
  }
  return figures;
}

Figures count(const Schedule& schedule, const Layout& layout) {
  Figures figures;
  for (const Program& program : schedule.programs) add(program, layout, figures);
  return figures;
}

Figures count(const ScheduleSource& source, const Layout& layout) {
  Figures figures;
  for (std::uint32_t r = 0; r < source.contract.ranks; ++r) {
    add(source.program(r), layout, figures);
  }
  return figures;
}

}  // namespace tutti
