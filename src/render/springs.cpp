#include "render/springs.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tutti::render {
namespace {

constexpr double rest = 1.8;  // Rest length of an edge.

/// A spiral as the start: no two nodes coincide, and no three are in line.
std::vector<Point> spiral(std::size_t nodes) {
  std::vector<Point> places;
  for (std::size_t i = 0; i < nodes; ++i) {
    const double turn = static_cast<double>(i) * std::numbers::phi * 2 * std::numbers::pi;
    const double radius = rest * std::sqrt(static_cast<double>(i) + 0.5) / 2;
    places.push_back({radius * std::cos(turn), radius * std::sin(turn)});
  }
  return places;
}

double length(Point vector) { return std::max(1e-6, std::hypot(vector.x, vector.y)); }

Point between(Point from, Point to) { return {to.x - from.x, to.y - from.y}; }

void add(Point& to, Point vector, double factor) {
  to.x += vector.x * factor;
  to.y += vector.y * factor;
}

/// One step, in which no node moves further than `most`.
void step(std::vector<Point>& places, const std::vector<std::pair<std::size_t, std::size_t>>& edges,
          double most) {
  std::vector<Point> forces(places.size());
  for (std::size_t a = 0; a < places.size(); ++a) {
    for (std::size_t b = a + 1; b < places.size(); ++b) {
      const Point apart = between(places[a], places[b]);
      const double push = rest * rest / (length(apart) * length(apart));
      add(forces[a], apart, -push);
      add(forces[b], apart, push);
    }
  }
  for (const auto& [a, b] : edges) {
    const Point apart = between(places[a], places[b]);
    const double pull = length(apart) / rest;
    add(forces[a], apart, pull);
    add(forces[b], apart, -pull);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double force = length(forces[i]);
    add(places[i], forces[i], std::min(force, most) / force);
  }
}

/// Separates pairs that are too close until there are none, or until the limit of iterations.
void keep_distance(std::vector<Point>& places) {
  constexpr int most_rounds = 200;
  constexpr double least = 1.02;
  bool moved = true;
  for (int round = 0; moved && round < most_rounds; ++round) {
    moved = false;
    for (std::size_t a = 0; a < places.size(); ++a) {
      for (std::size_t b = a + 1; b < places.size(); ++b) {
        const Point apart = between(places[a], places[b]);
        const double distance = length(apart);
        if (distance >= 1) continue;
        moved = true;
        add(places[a], apart, (distance - least) / distance / 2);
        add(places[b], apart, (least - distance) / distance / 2);
      }
    }
  }
}

}  // namespace

std::vector<Point> relax(std::size_t nodes,
                         const std::vector<std::pair<std::size_t, std::size_t>>& edges) {
  std::vector<Point> places = spiral(nodes);
  constexpr int steps = 300;
  const double widest = rest * std::sqrt(static_cast<double>(nodes));
  for (int i = 0; i < steps; ++i) {
    step(places, edges, widest * 0.1 * static_cast<double>(steps - i) / steps);
  }
  keep_distance(places);
  return places;
}

}  // namespace tutti::render
