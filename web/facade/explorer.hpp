#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tutti/network/network.hpp>
#include <tutti/network/optimum.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/schedule/price.hpp>
#include <tutti/schedule/schedule.hpp>

#include "core/json.hpp"
#include "web/facade/inputs.hpp"

/// The library as the explorer's page uses it: a question and its arguments as JSON in, the answer
/// as JSON out. Compiled to WebAssembly for the page, and natively for its tests.
namespace tutti::web {

/// A schedule and what is derived from it once.
class KeptSchedule {
 public:
  KeptSchedule(std::string key, Schedule schedule)
      : key_(std::move(key)), schedule_(std::move(schedule)) {}
  KeptSchedule(const KeptSchedule&) = delete;
  KeptSchedule& operator=(const KeptSchedule&) = delete;

  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  [[nodiscard]] const Pricer& pricer();

 private:
  std::string key_;
  Schedule schedule_;  // The pricer refers to it.
  std::optional<Pricer> pricer_;
};

/// A network and what is derived from it once.
struct KeptNetwork {
  std::string key;
  Network network;
  Routes routes;
  std::optional<Optimum> optimum;           ///< With any number of ports.
  std::optional<Optimum> one_port_optimum;  ///< With one.
};

/// Answers questions. Keeps the schedules and networks of the last questions, because a reader who
/// drags a slider asks many questions about the same ones.
class Explorer {
 public:
  Explorer();
  ~Explorer();
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;

  /// The answer as JSON, or {"error": {"code": ..., "message": ...}}. Never throws.
  [[nodiscard]] std::string answer(std::string_view question, std::string_view arguments) noexcept;

  /// The schedule of an algorithm, without damage. Throws unsupported with the refusal.
  [[nodiscard]] KeptSchedule& schedule(const ScheduleInput& input);
  /// The network of a spec or of a JSON text.
  [[nodiscard]] KeptNetwork& network(const std::string& text);

 private:
  std::list<KeptSchedule> schedules_;
  std::list<KeptNetwork> networks_;
};

/// The questions. Each takes its arguments as an object and returns an object.
[[nodiscard]] Json catalogue(Explorer& explorer, const JsonReader& arguments);
[[nodiscard]] Json play(Explorer& explorer, const JsonReader& arguments);
[[nodiscard]] Json story(Explorer& explorer, const JsonReader& arguments);
[[nodiscard]] Json schedule_text(Explorer& explorer, const JsonReader& arguments);
[[nodiscard]] Json cost(Explorer& explorer, const JsonReader& arguments);
[[nodiscard]] Json detail(Explorer& explorer, const JsonReader& arguments);
[[nodiscard]] Json curves(Explorer& explorer, const JsonReader& arguments);
[[nodiscard]] Json crossing(Explorer& explorer, const JsonReader& arguments);
[[nodiscard]] Json winners(Explorer& explorer, const JsonReader& arguments);
[[nodiscard]] Json proof(Explorer& explorer, const JsonReader& arguments);
[[nodiscard]] Json mutants(Explorer& explorer, const JsonReader& arguments);
[[nodiscard]] Json underlay(Explorer& explorer, const JsonReader& arguments);
[[nodiscard]] Json load(Explorer& explorer, const JsonReader& arguments);
[[nodiscard]] Json simulated(Explorer& explorer, const JsonReader& arguments);
[[nodiscard]] Json ring_order(Explorer& explorer, const JsonReader& arguments);
[[nodiscard]] Json pipeline(Explorer& explorer, const JsonReader& arguments);

}  // namespace tutti::web
