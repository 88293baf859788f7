#include <tutti/drawing.hpp>

#include "render/network_drawing.hpp"
#include "render/schedule_drawing.hpp"
#include "render/schedule_page.hpp"
#include "render/story.hpp"
#include "render/storyboard.hpp"
#include "render/timeline.hpp"
#include "render/traffic.hpp"

namespace tutti {
namespace {

render::Caption caption_of(const DrawingText& text, const std::string& otherwise) {
  return {.title = text.title.empty() ? otherwise : text.title, .lines = text.lines};
}

std::string title_of(const Schedule& schedule) {
  const std::uint32_t ranks = schedule.contract.ranks;
  return schedule.name + ", " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
}

}  // namespace

std::string draw_rounds(const Schedule& schedule, const DrawingText& text) {
  render::require_drawable(schedule.name, schedule.contract);
  const render::Storyboard story = render::storyboard(schedule);
  return render::draw_schedule(story, caption_of(text, title_of(schedule)),
                               render::usual_rounds(story.rounds()));
}

std::string draw_player(const Schedule& schedule, const DrawingText& text) {
  render::require_drawable(schedule.name, schedule.contract);
  return render::schedule_page(render::storyboard(schedule), caption_of(text, title_of(schedule)));
}

std::string explain(const Schedule& schedule, const std::string& summary,
                    const std::string& order) {
  return render::story(schedule, {.summary = summary, .order = order}, render::Paint(false));
}

std::string draw_network(const Network& network, const DrawingText& text) {
  return render::draw_network(network, {}, caption_of(text, network.name));
}

std::string draw_load(const Schedule& schedule, const Layout& layout, const Network& network,
                      Routes& routes, const DrawingText& text) {
  render::require_drawable(network);
  return render::draw_network(network, render::traffic_of(schedule, layout, network, routes),
                              caption_of(text, title_of(schedule) + " on " + network.name));
}

std::string draw_timeline(const Simulation& simulation, const Network& network,
                          const DrawingText& text) {
  return render::draw_timeline(simulation, network, caption_of(text, network.name));
}

}  // namespace tutti
