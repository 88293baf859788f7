#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "drawn_schedule.hpp"

namespace tutti::cli {

/// What is asked about a schedule on a network.
struct UnderlayOptions {
  std::string spec;  ///< "torus:4x4"
  std::string size = "1MiB";
  std::string alpha = "0";
  std::string gamma = "0";
  std::uint32_t ports = 1;
};

/// A network to draw schedules on.
class Underlay {
 public:
  /// Throws invalid_argument if the spec describes none.
  explicit Underlay(const std::string& spec);
  ~Underlay();
  Underlay(Underlay&&) noexcept;
  Underlay& operator=(Underlay&&) noexcept;

  [[nodiscard]] std::uint32_t ranks() const;
  /// What every link carries, as an SVG document.
  [[nodiscard]] std::string draw_load(const DrawnSchedule& drawn,
                                      const UnderlayOptions& options) const;
  /// Who does what when in a simulation, as an SVG document.
  [[nodiscard]] std::string draw_timeline(const DrawnSchedule& drawn,
                                          const UnderlayOptions& options) const;

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

}  // namespace tutti::cli
