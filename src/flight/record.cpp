#include "flight/record.hpp"

#include <algorithm>

#include "core/quantity.hpp"

namespace tutti {
namespace {

constexpr std::array<std::string_view, 3> pair_names = {"send", "receive", "send_receive"};
constexpr auto first_pair = static_cast<std::size_t>(FlightKind::send);

std::string collective_words(const FlightCall& call, Collective collective) {
  std::string text(name(collective));
  if (collective != Collective::barrier) {
    text += call.count == FlightCall::with_counts ? " with counts, of"
                                                  : " of " + std::to_string(call.count);
    text += " " + std::string(name(call.dtype));
    if (is_reduction(collective)) {
      text += " by " + (call.is_custom ? "a custom function" : std::string(name(call.op)));
    }
    if (has_root(collective)) text += ", root " + std::to_string(call.root);
  }
  if (*call.algorithm != '\0') text += " (" + std::string(call.algorithm) + ")";
  return text;
}

std::string pair_words(const FlightCall& call) {
  std::string text;
  if (call.kind != FlightKind::receive) {
    text = "send of " + in_plural(call.bytes, "byte") + " to rank " + std::to_string(call.root);
  }
  if (call.kind == FlightKind::send) return text;
  if (!text.empty()) text += " and ";
  return text + "receive of " + in_plural(call.count, "byte") + " from rank " +
         std::to_string(call.from);
}

}  // namespace

std::optional<Collective> collective_of(FlightKind kind) {
  return kind < FlightKind::send ? std::optional(static_cast<Collective>(kind)) : std::nullopt;
}

std::string_view name(FlightKind kind) {
  const std::optional<Collective> collective = collective_of(kind);
  return collective ? name(*collective)
                    : pair_names.at(static_cast<std::size_t>(kind) - first_pair);
}

std::optional<FlightKind> find_flight_kind(std::string_view text) {
  for (std::size_t i = 0; i < first_pair + pair_names.size(); ++i) {
    if (name(static_cast<FlightKind>(i)) == text) return static_cast<FlightKind>(i);
  }
  return std::nullopt;
}

FlightSite::FlightSite(std::string_view text) {
  text = text.substr(0, most_bytes);
  std::copy(text.begin(), text.end(), bytes_.begin());
  bytes_.back() = static_cast<char>(text.size());
}

std::string_view name(FlightRecord::State state) {
  constexpr std::array<std::string_view, 3> names = {"running", "done", "failed"};
  return names.at(static_cast<std::size_t>(state));
}

std::string call_words(const FlightRecord& record) {
  const std::optional<Collective> collective = collective_of(record.call.kind);
  std::string text =
      collective ? collective_words(record.call, *collective) : pair_words(record.call);
  if (!record.site.text().empty()) text += ", at '" + std::string(record.site.text()) + "'";
  return text;
}

std::string words(const FlightRecord& record) {
  const bool is_collective = collective_of(record.call.kind).has_value();
  return (is_collective ? "call " : "message ") + std::to_string(record.number) + ", " +
         call_words(record);
}

}  // namespace tutti
